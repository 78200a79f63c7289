"""What a text is worth: verdicts read from replies, judges with and without a model, trust cards.

A model's words become a verdict, a detection or an option only here, by one rule. How the
model is asked is in `asking`, the arithmetic of agreement in `stats`, people's labels are in
`annotation`. A judge that only one study needs is a `Baseline` in its `scores`.

parsing: what a judge's text states, or a typed reason why it states nothing. judges: who judges,
whose texts a judge is sent, and verdicts on frames. trust_cards: judges measured on labelled
examples. baselines: judges without a model.
"""

__all__ = """parsing judges trust_cards baselines""".split()
