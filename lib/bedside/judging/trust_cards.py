"""Trust cards: how a judge's verdicts agree with people's labels.

`trust_card` measures a judge on labelled answers; `describe` is its line in captions.
"""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import ArrayLike

AGAIN = "its labels, given once more"


def trust_card(
    labels: "ArrayLike",
    verdicts: "pd.DataFrame",
    values: Sequence[float | str],
    positive: float | str | None = 1,
    units: "ArrayLike | None" = None,
    ordered: bool | None = None,
) -> dict:
    """The trust card of a judge, as a dict: how its verdicts agree with human labels.

    labels: values (n,). verdicts: a frame with status and value in the same order. positive: the
    label that counts as positive; None for labels without one, such as categories, whose card has
    exact and kappa only. units: labels (n,) of what several answers share, such as their question;
    intervals are over these. ordered: whether the values are steps of a scale; by default three or
    more numbers are, and categories (no `positive`) never.

    exact and binary (`positive` against the rest) are shares with intervals of `stats.share`; kappa
    is unweighted, and kappa_quadratic, of ordered values, has quadratic weights. A kappa is NaN if
    labels and verdicts are all the same value. Unscored verdicts count only in `unscored` and in
    the bounds. The constant guesser gives every answer the most common label.
    """
    import numpy as np

    from bedside import stats

    labels = np.asarray(labels)
    scored = (verdicts["status"] == "graded").to_numpy()
    a, b = labels[scored], verdicts["value"].to_numpy()[scored].astype(labels.dtype)
    n, out = len(a), len(labels) - len(a)
    of = np.arange(n) if units is None else np.asarray(units, dtype=object)[scored]
    _, counts = np.unique(labels, return_counts=True)
    card = {
        "n": len(labels),
        "unscored": int(out),
        "guesser_exact": float(counts.max() / len(labels)),
        "guesser_kappa": 0.0 if len(counts) > 1 else float("nan"),
        "values": list(values),
        "confusion": [[int(((a == x) & (b == y)).sum()) for y in values] for x in values],
    }
    shares = {"exact": a == b}
    if positive is not None:
        share = float((labels == positive).mean())
        card["guesser_binary"] = max(share, 1 - share)
        shares["binary"] = (a == positive) == (b == positive)
    if n == 0:
        return card
    for name, same in shares.items():
        card[name] = stats.share(same, of)._asdict()
        hits = int(same.sum())
        card[f"{name}_bounds"] = [hits / len(labels), (hits + out) / len(labels)]
    kappa = functools.partial(stats.kappa, a, b, values, units=of)
    card["kappa"] = kappa()._asdict()
    if ordered is None:
        numbers = all(isinstance(v, int | float) for v in values)
        ordered = numbers and len(values) > 2 and positive is not None
    if ordered:
        card["kappa_quadratic"] = kappa(weights="quadratic")._asdict()
    if positive is not None:
        sensitivity, specificity = stats.sens_spec(a == positive, b == positive, of)
        card["sensitivity"], card["specificity"] = sensitivity._asdict(), specificity._asdict()
    return card


def corrected(
    rate: "Sequence[float]", card: dict, rng: "np.random.Generator"
) -> "tuple[float, float, float, int]":
    """A judged share corrected by the judge's sensitivity and specificity on its trust card.

    rate: the share in percent with its interval over units, (value, low, high, n) as of
    `tables.share`; the same form comes back. NaN for a judge without skill, which allows no
    correction, and if the card has no rates (n 0) or nothing was judged.
    """
    from bedside import stats

    value, low, high, n = rate
    if "sensitivity" not in card or not n:
        return (*[float("nan")] * 3, 0)
    known = [
        stats.Interval(*(float("nan") if v is None else v for v in card[k].values()))
        for k in ("sensitivity", "specificity")
    ]
    judged = stats.Interval(value / 100, low / 100, high / 100, n)
    rate = stats.corrected_rate(judged, *known, rng)
    return (*(100 * x for x in rate[:3]), n)


def scale(card: dict) -> tuple[str, str]:
    """(key, name) of the kappa that fits a card's values.

    On a scale of ordered values it has quadratic weights: a distant error counts more.
    """
    if "kappa_quadratic" in card and len(card["values"]) > 2:
        return "kappa_quadratic", "quadratic kappa"
    return "kappa", "kappa"


def describe(card: dict) -> str:
    """A line for captions: the judge's name, the kappa of its scale with its interval, and n."""
    key, name = scale(card)
    k = {what: v for what, v in card.get(key, {}).items() if v is not None and v == v}
    shown = f"{name} {k['value']:z.2f}" if "value" in k else f"{name} not measurable"
    shown += " (no verdict)" * (card["n"] == card["unscored"])
    shown += f" [{k['low']:z.2f}, {k['high']:z.2f}]" if "low" in k else ""
    task = f" ({card['task']})" if card.get("task") else ""
    return f"judge{task}: {card['judge']}, {shown} on {card['n']} labelled {card['of']}"


def with_second_labels(labelled: "pd.DataFrame", items: list[str]) -> "pd.DataFrame":
    """Judged replies (items, label, label_again, judge), with the second labels as one more judge.

    Its card is then the agreement of the people who labelled with themselves.
    """
    import pandas as pd

    again = labelled.drop_duplicates(items).assign(judge=AGAIN, status="graded")
    again["value"] = again["label_again"]
    return pd.concat([labelled, again], ignore_index=True)
