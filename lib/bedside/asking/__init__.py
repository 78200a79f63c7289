"""How a model is asked: replayed, called, retried, served, or only planned.

What a reply means is decided in `judging`; what waits for batches is in `bulk`; what an endpoint
takes and costs, and what a reply leaves behind, is in `keep`. A plan over whole notebooks is
counted in `build.notebooks`.

models: `ask`, which replays and records. sending: calls to endpoints. failures: what refusals mean.
embedded: the bundled model's server. dry_run: what stands in for replies in a plan. progress: what
make shows meanwhile.
"""

__all__ = """models sending failures embedded dry_run progress""".split()
