"""Rows on judges and categorisers against labels (appendix C): percent; kappa is a coefficient."""

from bedside.judging import trust_cards
from bedside.write.tables import Row, card_rows, frame, guesser, percent

from .. import printed
from ..study import GRADES, NFP_TASK

SHARES = {"exact": "exact match", "binary": "binary match (-1 and 0 against 1)"}
ZEROS = "Answers that humans graded 0"  # as printed
ON_ZERO = "exact match where the label is 0"
MEASURES = {
    **SHARES,
    "sensitivity": "sensitivity for 1",
    "specificity": "specificity for 1",
    "kappa": "kappa",
    "kappa_quadratic": "kappa, quadratic",
}


def table1(cards, run):
    """Table 1: the paper's judge as published, the run's judges by their cards, a guesser."""
    rows = _printed(run)
    for name, card in cards.items():
        mine = card_rows(name, card, MEASURES)
        zeros = card["confusion"][GRADES.index(0)]
        share = percent(zeros[GRADES.index(0)], sum(zeros))
        mine.insert(-4, Row(name, ON_ZERO, "run", *share, card["unscored"]))
        rows += mine
    guess = next(iter(cards.values()))
    shares = {label: 100 * guess[f"guesser_{key}"] for key, label in SHARES.items()}
    for label, value in {**shares, "kappa": 0.0}.items():
        rows.append(Row("constant guesser", label, "run", value, n=guess["n"], unscored=0))
    return frame(rows)


def _printed(run):
    """The paper's judge: its published shares, and the kappas that they allow."""
    name, n = "GPT-4o (the paper's judge)", printed.ANNOTATED
    said = run.published("v1 Table 1").set_index("column")["value"]
    on_zero = run.published("v1 text C.1").set_index("row")["value"][ZEROS]
    kappa = printed.kappas(printed.possible_confusions(run))["three"]
    return [
        *(Row(name, SHARES[k], "published", said[f"{k} match"], n=n) for k in SHARES),
        Row(name, ON_ZERO, "published", on_zero),
        Row(name, "kappa", "recomputed", None, kappa.low, kappa.high, n),
    ]


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


def examples_table(cards):
    """How models agree with labels with and without examples; cards: of `study.example_cards`."""
    tasks = {"myth": "false presupposition", "plain": NFP_TASK}
    rows = []
    for (name, kind), card in cards.items():
        kappa = trust_cards.scale(card)[0]
        labels = {"exact": "exact match", kappa: "kappa"}
        rows += card_rows(name, card, {k: f"{tasks[kind]}: {v}" for k, v in labels.items()})
    return frame(rows)
