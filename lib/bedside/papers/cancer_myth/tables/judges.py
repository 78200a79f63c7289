"""Rows on categorisers against labels (appendix C.2): percent; kappa is a coefficient."""

from bedside.write.tables import Row, card_rows, frame, guesser

from .. import printed


def categoriser_table(sets, run):
    """Agreement of categorisers with labels ({set: {categoriser: card}}) beside the published."""
    said = run.published("v1 Table 1").set_index("row")["value"]["Categorisation"]
    column, n = "exact match, overlaps count", printed.ANNOTATED
    rows = [Row("GPT-4o (the paper's)", column, "published", said, n=n)]
    for name, cards in sets.items():
        for judge, card in cards.items():
            both = {"exact": "exact match", "overlap": column, "kappa": "kappa"}
            both = {key: label for key, label in both.items() if key in card or key != "overlap"}
            rows += card_rows(f"{judge}, {name}", card, both)
        rows.append(guesser(card, f"constant guesser, {name}"))
    return frame(rows)
