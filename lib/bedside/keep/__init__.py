"""What a call is and what stays of it: models' entries, requests, replies, recordings, the ledger.

Nothing here sends a request, and nothing reads what a reply says.

registry: the entries of data/models.toml. prices: what calls cost. usage: tokens of a call.
replies: requests and replies. store: recordings. ledger: every call, limits and money, for all
processes. locks: of files that processes share.
"""

__all__ = """registry prices usage replies store ledger locks""".split()
