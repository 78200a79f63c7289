"""Radiation: readings of its claims about choosing from the list (sections 3.4 and 4.5)."""

import pandas as pd

from bedside.read.claims import every, near, outcome, reading

from ..data import MOST
from . import (
    LARGE,
    ROUNDED,
    TWO,
    above,
    all_scores,
    counted,
    high,
    listed,
    meet,
    number,
    of_most,
    too_long,
    wide,
)

EAGER = "Qwen-2.5-7B"  # section 4.5 names it
CHOSEN = ["Table 3", "Table 4"]


def readings(run, sizes, terms):
    """{id: readings} of section 4.5. sizes: of the patients' references; terms: the vocabulary."""
    scores = all_scores(run)
    return {
        **_on_list(run, scores),
        **_on_gains(scores),
        **_on_size(run, scores),
        **_on_over_selection(run, sizes, terms),
    }


def _on_list(run, scores):
    """What the list changes, without and with a list size."""
    found = {"rad-ground-precision": {}, "rad-ground-recall": {}}
    pairs = {
        "without a size": ("free-form", "selection", TWO),
        "with a size": ("free-form, 20-30", "selection, 20-30", TWO + ROUNDED),
    }
    for name, (free, chosen, slack) in pairs.items():
        gain = scores[chosen] - scores[free]
        for id, column in zip(found, ("Precision", "Recall")):
            span = f", by {gain[column].min():.2f} to {gain[column].max():.2f}"
            found[id] |= counted(above(gain[column], slack=slack), span, name, all=True)
    found["rad-ground-size"] = _substantial(run, scores)
    gain = scores["selection"]["F1"] - scores["free-form"]["F1"]
    apart = wide(run, "Table 3", "low")["F1"] - wide(run, "Table 1", "high")["F1"]
    least = gain.min()
    found["rad-ground-f1"] = {
        "gain": outcome(f"{least:.2f} to {gain.max():.2f}", near(least, TWO, least=LARGE)),
        **counted(above(apart, slack=0), " intervals apart", "intervals", all=True),
    }
    return found


def _substantial(run, scores):
    """Are the gains in precision and recall substantial, in each model or on their mean?"""
    both = ["Precision", "Recall"]
    gain = (scores["selection"] - scores["free-form"])[both]
    apart = wide(run, "Table 3", "low")[both] - wide(run, "Table 1", "high")[both]
    made = {}
    for name, values, slack in (
        ("0.1 or more in every model (the bound is ours)", gain - LARGE, TWO),
        ("intervals apart in every model", apart, 0),
    ):
        each = {column.lower(): above(values[column], slack=slack) for column in both}
        told = ", ".join(f"{column} in {number(which)}" for column, which in each.items())
        made[name] = outcome(told, every(of_most(w, all=True) for w in each.values()))
    mean = gain.mean()
    holds = near(mean, TWO, least=LARGE)
    told = "{:.2f} and {:.2f}".format(*mean)
    return made | reading(told, holds, name="0.1 or more on the models' mean")


def _on_gains(scores):
    """Does the list improve precision more than recall?"""
    before, after = (
        scores[regime][["Precision", "Recall"]] for regime in ("free-form", "selection")
    )
    gain = after - before
    more = above(gain["Precision"] - gain["Recall"], slack=2 * TWO)
    mean, middle = gain.mean(), gain.median()
    ahead = mean["Precision"] - mean["Recall"]
    low, top = (_closed(before + s, after - s) for s in (ROUNDED, -ROUNDED))
    closed = (low["Precision"] > top["Recall"]), (top["Precision"] > low["Recall"])
    return {
        "rad-gain-precision": {
            **counted(more, name="by the number of models"),
            "by the models' mean": outcome(
                "{:.2f} against {:.2f}, medians {:.2f} and {:.2f}".format(*mean, *middle),
                of_most(above(pd.Series(ahead), slack=2 * TWO), all=True),
            ),
            **counted(closed, name="as a share of what was missing"),
        }
    }


def _closed(before, after):
    """The gain as a share of what was missing to 1."""
    return (after - before) / (1 - before)


def _on_size(run, scores):
    """What a list size changes with the list, alone and compared with free-form lists."""
    step = scores["selection, 20-30"] - scores["selection"]
    safer = step - (scores["free-form, 20-30"] - scores["free-form"])
    rise, fall = above(step["Recall"], slack=TWO), above(-step["F1"], slack=TWO)
    risen = step["Recall"][rise[0]]
    span = f", by {risen.min():.2f} to {risen.max():.2f}; {listed(step['Recall'][~rise[0]])}"
    low, top = ([wide(run, t, what)["Precision"] for t in CHOSEN] for what in ("low", "high"))
    same = meet(low, top)
    kept = above(scores["selection, 20-30"]["Precision"], high(run))
    steady = ~fall[1], ~fall[0]
    apart = listed(step["Precision"][~same])
    found = {}
    for column in ("F1", "Precision"):
        middle = f", median {safer[column].median():+.2f}"
        found |= counted(above(safer[column], slack=TWO + ROUNDED), middle, column)
    return {
        "rad-sized-recall": counted(rise, span, all=True),
        "rad-sized-precision": {
            **counted(kept, f" have more than {high(run)}", "high"),
            **counted((same, same), " have intervals that meet", "kept"),
        },
        "rad-sized-varies": reading(
            f"{same.sum()} of {len(same)} have intervals that meet; {apart}",
            0 < same.sum() < len(same),
        ),
        "rad-sized-f1": counted(steady, f" don't fall; {listed(step['F1'][fall[1]])}"),
        "rad-sized-safer": found,
    }


def _on_over_selection(run, sizes, terms):
    """Can the over-selection of Qwen-2.5-7B be of terms of the list?"""
    regime = "selection, 20-30"
    needed, size = too_long(run, sizes, regime).get(EAGER), len(terms)  # None: not too long
    precision = all_scores(run)[regime].at[EAGER, "Precision"]
    told = f"a precision of {precision} takes a list of {needed or 'at most ' + str(MOST)}"
    fewest = f"; all {size} terms have {sizes.min() / size:.2f} or more"
    return {
        "rad-qwen": {
            "terms of the list": outcome(told + fewest, not needed or needed <= size),
            "entries, repeats too": outcome(f"{told} against {MOST}", bool(needed)),
        }
    }


def of_filtering(run, reference, terms):
    """How many terms don't belong to a site (3.4)? Known for the released reference only."""
    if run.profile != "public":
        return {}
    wrong = len(terms) - reference.groupby("site", sort=False).size()
    told = ", ".join(map(str, wrong))
    return reading(f"{told} of {len(terms)} terms are wrong, by site", (wrong > 0).all())


def of_copying(run, copier):
    """Which printed lists score above a copy of all terms? Needs all released patients."""
    if run.profile != "public" or run.limit:
        return {}
    copied, found = copier.set_index("column")["value"], {}
    scores = pd.concat([all_scores(run)[regime] for regime in ("selection", "selection, 20-30")])
    for column in ("F1", "Precision"):
        told = f" above copying, {copied[column]:.3f}"
        found |= counted(above(scores[column], copied[column]), told, column)
    return found
