"""What a call is and what stays of it: models' entries, requests, replies, recordings, the ledger.

Nothing here sends a request (`asking` does), and nothing decides what a reply says (`judging`
does). How requests of many notebooks become files of batches is in `bulk`.

registry: the entries of data/models.toml. prices: what calls cost. usage: tokens of a call.
replies: requests and replies. store: recordings. ledger: every call, limits and money, for all
processes. locks: of files that processes share.
"""

__all__ = """registry prices usage replies store ledger locks""".split()
