"""Readings of MedHalu's claims on an expert's reason (abstract, section 5), by subject."""

import itertools

from bedside import stats
from bedside.read.claims import between, every, in_words, outcome, reading

from .detection import much, significant
from .numbers import (
    ALPHA,
    LLMS,
    ROUNDED,
    SIX,
    TEN,
    apart,
    classes,
    grid,
    listed,
    overall,
    sample_share,
    scores_of,
    shares,
    text,
)
from .rates import p_ends, printed_rates

NAMES = {"macro-F1": "ma-F1", "accuracy": "Acc", "macro precision": "ma-P", "macro recall": "ma-R"}


def claims(run):
    """Readings of every claim of section 5."""
    made = {"mh-much-better": _much_better(run), "mh-significant": certain(run)}
    return gains(run) | improved(run) | made


def gains(run):
    """The gains from a reason in the prompt, and whether the text agrees with Table 10."""
    before, after = (scores_of(run, t)["ma-F1"] for t in (SIX, TEN))
    gain, said = 100 * (after - before).loc["GPT-4"], grid(run, "text 5").loc[after.columns]
    printed_gain = text(run, "abstract")["GPT-4 gain with an expert's reason"]
    mean, rounding = gain.mean(), 2 * 100 * ROUNDED
    made = {
        "mh-gain-gpt4": reading(
            listed(gain, ".0f"), (gain.round() == said["GPT-4 gain, points"]).all()
        ),
        "mh-gain-average": reading(
            f"{mean:.1f}",
            f"{mean:.1f}" == f"{printed_gain:.1f}",
            mean - rounding,
            mean + rounding,
        ),
    }
    for name in ("LLaMA-2", "GPT-4"):
        equal = said[f"{name} ma-F1"] == after.loc[name]
        made[f"mh-reason-{name.lower()}"] = reading(listed(after.loc[name]), equal.all())
    return made


def improved(run):
    """Gains of Table 10 on Table 6 by each score, and the best model of Table 10."""
    before, after = scores_of(run, SIX), scores_of(run, TEN)
    made, ahead = {}, {}
    for name, metric in NAMES.items():
        change = after[metric] - before[metric]
        told = f"{(change > 0).sum().sum()} of {change.size}; on average"
        told += f" {in_words(overall(change), '+.3f')}"
        made[name] = outcome(told, apart(change, least=0))
        means = overall(after[metric])
        ahead[name] = means["GPT-4"] - means.drop("GPT-4").max()
    f1 = after["ma-F1"]
    gap = f1.loc["GPT-4"] - f1.drop("GPT-4").max()
    return {
        "mh-all-improve": made,
        "mh-gpt4-best": {
            "macro-F1 in each subset": outcome(in_words(gap, "+.2f"), apart(gap, least=0)),
            "each score, mean of the subsets": outcome(
                in_words(ahead, "+.2f"), apart(list(ahead.values()), least=0)
            ),
        },
    }


def _much_better(run):
    """Gains in macro-F1 as section 5 has them, beside what it and 4.1 count as much."""
    before, after = (scores_of(run, t)["ma-F1"] for t in (SIX, TEN))
    said = grid(run, "text 5").loc[after.columns]
    for name in ("LLaMA-2", "GPT-4"):  # the text has no scores of GPT-3.5
        after.loc[name] = said[f"{name} ma-F1"]
    gain, counted = stats.drop_noise(after - before), said["GPT-4 gain, points"].min() / 100
    least = " on ".join(gain.stack().idxmin())
    told = f"{gain.min(axis=None):.2f} ({least}) to {gain.max(axis=None):.2f}"
    return {
        f"each gain, at least {bound:.2f}": outcome(told, apart(gain - bound, least=0))
        for bound in (counted, much(run))
    }


def certain(run):
    """Whether the improvement is significant, for any overlap of right answers in both tables."""
    known, sizes = printed_rates(run), (1, sample_share(run))
    rows = {m: ((TEN, m), (SIX, m)) for m in LLMS}

    def ends(both, metric, weights):  # over all pairs, or a sample of them
        found = [p_ends(known, *both, metric, weights, (k, k), ("best", "worst")) for k in sizes]
        return min(p[0] for p in found), max(p[1] for p in found)

    made = {}
    for name, metric in (("accuracy", "Acc"), ("macro-F1", "ma-F1")):
        tests = {m: ends(both, metric, shares(run)) for m, both in rows.items()}
        holds, told = significant(tests)
        made[f"each model, {name} weighted by pairs"] = outcome(told, holds)
    f1 = {(m, d): ends(both, "ma-F1", {d: 1})[0] for m, both in rows.items() for d in known.sizes}
    for name, least in (("accuracy", _least_p(run)), ("macro-F1", f1)):
        lost = max(least, key=least.get)
        made[f"each model in each subset, {name}"] = outcome(
            f"{' '.join(lost)}: p at least {least[lost]:.3g}",
            every(between(p, 1, most=ALPHA) for p in least.values()),
        )
    return made


def _least_p(run):
    """The smallest exact McNemar p of each gain in accuracy: no right answer became wrong."""
    tables, least = [scores_of(run, t)["Acc"] for t in (SIX, TEN)], {}
    for (d, each), m in itertools.product(classes(run).items(), LLMS):
        before, after = (stats.grim_counts(100 * t.at[m, d], sum(each), 0) for t in tables)
        least[m, d] = stats.mcnemar_counts(max(after[-1] - before[0], 0), 0)
    return least
