"""What a text is worth: verdicts read from replies, judges with and without a model, trust cards.

parsing: what a judge's text states, or a typed reason why it states nothing. judges: who judges,
and verdicts on frames. trust_cards: judges measured on labelled examples. baselines: judges without
a model.
"""

__all__ = """parsing judges trust_cards baselines""".split()
