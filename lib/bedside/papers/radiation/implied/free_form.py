"""Radiation: readings of its claims about free-form lists, without and with a size (4.3, 4.4)."""

import numpy as np

from bedside.read.claims import between, every, in_words, load, outcome, reading
from bedside.read.published import value

from . import (
    LARGE,
    MODERATE,
    STRONG,
    TWO,
    above,
    counted,
    implied_lengths,
    number,
    of_most,
    rank_correlation,
    too_long,
    wide,
)

PRECISE, BROAD = ["Gemma-2-9B", "O4-Mini", "GPT-5.3"], "LLaMA-3.1-8B"  # section 4.3 names them


def readings(run, sizes):
    """{id: readings} of sections 4.3 and 4.4. sizes: of the patients' references."""
    return {
        **_on_models(run),
        **_on_tradeoff(run),
        **_on_lengths(run, sizes),
        **_on_size(run),
    }


def _on_models(run):
    """The precise models, and the one with broad lists (4.3)."""
    first = wide(run, "Table 1")
    precise, broad = first.loc[PRECISE], first.loc[BROAD]
    row, apart = "Gemma-2-9B, O4-Mini, GPT-5.3 precision", TWO
    limits = [value(run.paper, "text 4.3", row, limit) for limit in ("least", "most")]
    pairs = ", ".join(
        f"{m} {r.Recall:.2f} against {r.Precision:.2f}" for m, r in precise.iterrows()
    )
    own = above(precise["Precision"] - precise["Recall"], slack=apart)
    set_against = above(broad["Recall"] - precise["Recall"], slack=apart)
    printed = f"{broad['Recall']:g} and {broad['Precision']:g}"
    return {
        "rad-precise": reading(
            "{} to {}".format(*precise["Precision"].agg(["min", "max"])),
            precise["Precision"].between(*limits).all(),
        ),
        "rad-llama": reading(printed, printed == load(run.paper)["rad-llama"].published),
        "rad-incomplete": {
            **counted(own, f": {pairs}", "below their own precision", all=True),
            **counted(
                set_against,
                f" below {BROAD}'s {broad['Recall']}",
                "below the model they are set against",
                all=True,
            ),
        },
    }


def _on_tradeoff(run):
    """Does higher precision go with lower recall (4.3)?"""
    first, low, high = (wide(run, "Table 1", what) for what in ("value", "low", "high"))
    signs = []  # models by models: does one lie beyond the other's interval?
    for column in ("Precision", "Recall"):
        least, most = low[column].to_numpy(), high[column].to_numpy()
        up = least[:, None] > most
        signs.append(up.astype(int) - up.T)
    kinds = np.triu(np.multiply(*signs), 1)
    traded, better = (kinds < 0).sum(), (kinds > 0).sum()
    apart, pairs = [int((sign > 0).sum()) for sign in signs], len(first) * (len(first) - 1) // 2
    found = reading(
        f"{traded} pairs of models, beyond both intervals; in {better} one has more of both",
        traded > 0,
        name="both kinds of model",
    )
    for name, models in {
        "all seven models": first,
        "the five open models": first.drop(STRONG),
    }.items():
        ranks, *bounds = rank_correlation(models["Precision"], models["Recall"])
        holds = between(*bounds, most=-MODERATE)
        found[name] = outcome(f"rank correlation {ranks:.2f}", holds, *bounds)
    told = "intervals apart in precision for {} and in recall for {} of {} pairs of models"
    holds = min(apart) > pairs / 2
    return {"rad-tradeoff": found, "rad-varies": reading(told.format(*apart, pairs), holds)}


def _on_lengths(run, sizes):
    """How long the lists must have been, given their precision and recall (4.3, 4.4)."""
    implied = implied_lengths(run, sizes)
    entries = implied[implied["regime"] == "free-form"].set_index("model")[["low", "high"]]
    others = entries.drop(BROAD)
    second = others["high"].idxmax()
    said = [f"{m}, {low:.0f} to {high:.0f}" for m, low, high in entries.itertuples()]
    said = dict(zip(entries.index, said))
    low, high = entries.loc[BROAD] - others[["high", "low"]].max().to_numpy()
    over = too_long(run, sizes, "free-form, 20-30")
    longest = in_words(over)
    return {
        "rad-broad": reading(
            f"about, by precision and recall: {said[BROAD]}; next {said[second]}",
            between(low, high, least=1),
            name="entries",
        ),
        "rad-size-kept": reading(
            f"a list of at least: {longest}" if over else "possible", not over, name="entries"
        ),
    }


def _on_size(run):
    """What asking for 20 to 30 side effects changes (4.4)."""
    change, high = wide(run, "Table 2"), wide(run, "Table 2", "high")
    change.columns = high.columns = ["precision", "recall", "f1"]
    drop, recall = -change["precision"], change["recall"]
    up, down, small = above(recall), above(-recall), above(LARGE - recall.abs())
    less = above(drop - recall.abs(), slack=TWO)
    mixed = every([between(*[w.sum() for w in way], least=1) for way in (up, down)])
    inconsistent = f"{number(up)} up, {number(down)} down; "

    def little(which, told, name):
        told = f"{inconsistent}{told} in {number(which)}"
        return reading(told, every([mixed, of_most(which, all=True)]), name=name)

    limits = run.published("text 4.4")["value"].tolist()
    more = f"; precision loses more than recall in {number(less)}"
    return {
        "rad-size-precision": counted(above(-high["precision"]), " beyond the interval", all=True),
        "rad-size-range": reading(
            f"{drop.min():.2f} to {drop.max():.2f}", [drop.min(), drop.max()] == limits
        ),
        "rad-size-recall": {
            **little(
                less,
                "less than precision's change",
                "set beside precision's change, in every model",
            ),
            **little(
                small, f"less than {LARGE}", f"taken by itself, less than {LARGE} in every model"
            ),
        },
        "rad-size-f1": counted(above(-change["f1"]), more),
        "rad-size-outweighed": counted(above(drop - recall, slack=TWO)),
    }
