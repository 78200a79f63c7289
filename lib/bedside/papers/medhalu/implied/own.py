"""MedHalu: this project's own questions about its printed numbers, and their readings."""

import numpy as np

from bedside.read.claims import between, every, outcome, reading

from . import matrices
from .numbers import (
    LLMS,
    PEOPLE,
    PROPRIETARY,
    ROUNDED,
    SIX,
    TEN,
    by_row,
    classes,
    sampled,
    scores_of,
    share_error,
)
from .rates import behind

MOVED = 2  # answers of a base set that may lack a readable reply


def tables_6_and_8(run):
    """Whether there are counts whose scores print as Tables 6 and 8."""
    rates, agree = matrices.implied(run, SIX), matrices.types_agree(run)
    people, alone, moved = rates["row"].isin(PEOPLE), agree["alone"], agree["moved"]
    worst = agree.loc[moved.idxmax()]
    fits, anyhow = rates["fits"] > 0, rates.loc[people, "anyhow"] <= matrices.FITS
    lost = [
        matrices.with_some_left_out(*classes(run)[d], scores)
        for (name, d), scores in by_row(run, SIX).items()
        if name in LLMS
    ]
    left = max(filter(None, lost), default=0)  # rows that fit nothing are counted beside it
    return {
        "mh-matrices": {
            "one matrix over Table 4's answers": outcome(
                f"{fits.sum()} of {len(fits)}; of models {fits[~people].sum()} of {len(lost)}",
                fits.all(),
            ),
            "models: one matrix, a few replies left out": outcome(
                f"{len(lost) - lost.count(None)} of {len(lost)},"
                f" with {left} replies left out at most",
                None not in lost,
            ),
            **thirds(run, SIX, PEOPLE, "people: a mean over three raters"),
            "people: one matrix, another share of hallucinated answers": outcome(
                f"{anyhow.sum()} of {len(anyhow)}", anyhow.all()
            ),
        },
        "mh-types-alone": reading(f"{alone.sum()} of {len(agree)}", alone.all()),
        "mh-types-fit": reading(
            f"{(moved <= MOVED).sum()} of {len(agree)}, {(moved == 0).sum()} of them to the answer;"
            f" {worst['row']} on {worst['dataset']} {worst['moved']:.0f} apart",
            (moved <= MOVED).all(),
        ),
        "mh-always-yes": _always_yes(run),
    }


def thirds(run, table, names, name):
    """A reading: each row is the mean of three matrices over the sample."""
    found = [
        matrices.mean_of_three(*sampled(run, d), scores)
        for (who, d), scores in by_row(run, table).items()
        if who in names
    ]
    return reading(f"{sum(found)} of {len(found)}", all(found), name=name)


def _always_yes(run):
    """Whether no accuracy of Table 6 is above that of always yes."""
    gaps = ahead(run, SIX, dict.fromkeys(classes(run), 0))
    return reading(told(gaps), every(between(*gap, most=0) for gap in gaps.values()))


def _always_yes_10(run):
    """Whether most accuracies of Table 10 are below that of always yes, and GPT-4's on HealthQA is
    above it.
    """
    made = {}
    for name, room in (
        ("Table 4's shares", dict.fromkeys(classes(run), 0)),
        ("shares of a sample of 500", {d: share_error(run, d) for d in classes(run)}),
    ):
        gaps = ahead(run, TEN, room)
        above = [between(*gap, least=0) for gap in gaps.values()]
        below = above.count(False), len(above) - above.count(True)
        most = between(*below, least=len(above) // 2 + 1)
        holds = every([most, between(*gaps["GPT-4", "HealthQA"], least=0)])
        made[name] = outcome(told(gaps), holds)
    return made


def ahead(run, table, room):
    """Ends of models' accuracies minus the share of hallucinated answers, the accuracy of always
    yes: {(model, dataset): (least, most)}. room: by how much a share may be off, by dataset.
    """
    share = {d: p / (p + n) for d, (p, n) in classes(run).items()}
    gap = (scores_of(run, table)["Acc"] - share).stack()
    return {(m, d): (x - ROUNDED - room[d], x + ROUNDED + room[d]) for (m, d), x in gap.items()}


def told(gaps):
    """How many of the differences of `ahead` are surely above 0 and below it, in words."""
    above = [between(*gap, least=0) for gap in gaps.values()]
    middle = [sum(gap) / 2 for gap in gaps.values()]
    counts = f"{above.count(True)} of {len(above)} are more accurate, {above.count(False)} are less"
    return f"{counts}; {min(middle):+.2f} to {max(middle):+.2f}"


def table_10(run):
    """Whether there are counts whose scores print as Table 10; what a reason does to both rates."""
    ten = matrices.implied(run, TEN)
    sample = [
        len(matrices.confusions(*sampled(run, d), scores)[0]) > 0
        for (_, d), scores in by_row(run, TEN).items()
    ]
    made = {}
    for name, fits in {
        "one matrix over Table 4's answers": ten["fits"] > 0,
        "one matrix over a sample of 500": np.array(sample),
        "one matrix, another share of hallucinated answers": ten["anyhow"] <= matrices.FITS,
    }.items():
        made[name] = outcome(f"{fits.sum()} of {len(fits)}", fits.all())
    return {
        "mh-matrices-10": made | thirds(run, TEN, LLMS, "a mean over three runs"),
        "mh-always-yes-10": _always_yes_10(run),
        "mh-yes": _found_and_let_pass(run, matrices.implied(run, SIX), ten),
    }


def _found_and_let_pass(run, six, ten):
    """Section 5: whether a reason more than halves GPT-3.5's and GPT-4's specificity, the share of
    other answers accepted, on HealthQA.

    six, ten: `implied` of Tables 6 and 10.
    """
    made, plain = {}, behind(run, SIX)
    for name, before, after in (
        ("any average, Table 4's shares", plain, behind(run, TEN)),
        ("any average, shares of a sample of 500", plain, behind(run, TEN, LLMS)),
        ("one matrix a row, where there is one", six[six["fits"] > 0], ten[ten["fits"] > 0]),
    ):
        # rows that both tables have, of a matrix each in the third way: their number is told
        how = {"suffixes": ("", " then"), "validate": "one_to_one"}
        both = before.merge(after, on=["row", "dataset"], **how)
        both = both[both["row"].isin(PROPRIETARY) & (both["dataset"] == "HealthQA")]
        least = both["specificity least then"] - both["specificity most"] / 2
        most = both["specificity most then"] - both["specificity least"] / 2
        words = both[["row", "specificity", "specificity then"]].to_numpy()
        made[name] = outcome(
            "; ".join(f"{who} {old:.2f} to {new:.2f}" for who, old, new in words),
            every(between(*ends, most=0) for ends in zip(least, most)),
        )
    return made
