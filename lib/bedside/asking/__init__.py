"""How a model is asked: replayed, called, retried, served, or only planned; what stays of a call.

What a reply means is decided in `judging`. Notebooks are planned in `build.plans`, and asked
in batches by `build.rounds`.

registry: the entries of data/models.toml, and what calls cost. usage: tokens of a call.
replies: requests and replies. store: recordings. budget: the money that all processes spend.
models: `ask`, which replays, calls and records. sending: one model's endpoint. failures: what
refusals mean. embedded: the bundled models' servers. dry_run: what stands in for replies in a plan.
progress: what is shown meanwhile. batches: requests as files, and what engines answer.
"""

__all__ = """registry usage replies store budget
models sending failures embedded dry_run progress batches""".split()
