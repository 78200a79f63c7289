"""Readings of MedHalu's claims on detection (abstract, sections 1, 3, 4), by subject."""

import pandas as pd

from bedside import stats
from bedside.read.claims import between, every, in_words, near, outcome, reading

from ..data import DATASETS, copy_of_medhalu
from .numbers import (
    ALPHA,
    LLMS,
    OPEN,
    PEOPLE,
    PROPRIETARY,
    ROUNDED,
    SIX,
    apart,
    listed,
    overall,
    sample_share,
    scores_of,
    shares,
    text,
    wide,
)
from .rates import mean_ends, mean_rates, p_ends, pooled, printed_rates

MARGIN = 0.02  # of a score, that "marginal" and "similar" allow
MACRO = {"macro precision": "ma-P", "macro recall": "ma-R", "macro-F1": "ma-F1"}
PLAIN = dict.fromkeys(DATASETS, 1 / len(DATASETS))  # weights of a mean of the subsets


def claims(run):
    """Readings of every claim of these sections."""
    return averages(run) | texts(run) | models(run) | experts(run) | margin(run) | laypeople(run)


def averages(run):
    """Section 1: its three macro-F1s, each reading by one average of Table 6."""
    said, f1, known = text(run, "text 1"), wide(run, SIX, "ma-F1"), printed_rates(run)
    names = ["Experts", "Laypeople", "GPT-4"]
    raters = {name: mean_ends(*mean_rates(known, name)) for name in PEOPLE}
    made = {}
    for what, weights in (("mean of the subsets", None), ("weighted by pairs", shares(run))):
        found = overall(f1, weights)
        made |= three(said, {n: (found[n] - ROUNDED, found[n] + ROUNDED) for n in names}, what)
    over = {name: pooled(known, name) for name in names}
    made |= three(said, over, "over all answers")
    made |= three(said, over | raters, "people: mean over raters; GPT-4: over all answers")
    return {"mh-averages": made, "mh-similar": similar(run, said, f1)}


def three(said, ends, name):
    """A reading of macro-F1s, {evaluator: (least, most)}, compared with those of section 1."""
    told = [f"{w} {sum(end) / 2:.3f} [{end[0]:.3f}, {end[1]:.3f}]" for w, end in ends.items()]
    holds = [between(*ends[w], said[w] - ROUNDED, said[w] + ROUNDED) for w in ends]
    return reading(", ".join(told), every(holds), name=name)


def similar(run, said, f1):
    """Section 1: the difference between GPT-4 and laypeople, as printed and by two averages."""
    ways = {
        "as printed in section 1": said,
        "mean of the subsets": overall(f1),
        "weighted by pairs": overall(f1, shares(run)),
    }
    made = {}
    for name, of in ways.items():
        gap = of["GPT-4"] - of["Laypeople"]
        ends = [round(gap + side * 2 * ROUNDED, 10) for side in (-1, 1)]
        made[name] = outcome(f"{gap:+.3f} macro-F1", between(*ends, -MARGIN, MARGIN), *ends)
    return made


def texts(run):
    """Section 4.1: its macro-F1s compared with Table 6's."""
    said = run.published("text 4.1").set_index(["row", "column"])["value"]
    f1 = wide(run, SIX, "ma-F1")
    made = {}
    for name in PEOPLE:
        equal = [said[d, f"{name} ma-F1"] == f1.at[name, d] for d in f1]
        made[f"mh-text-{name.lower()}"] = reading(listed(f1.loc[name]), all(equal))
    health = [said[m, "HealthQA ma-F1"] == f1.at[m, "HealthQA"] for m in LLMS]
    live = said["GPT-3.5 and GPT-4", "LiveQA ma-F1"]
    best = said["highest of the LLMs", "MedicationQA ma-F1"]
    others = [live == v for v in f1.loc[PROPRIETARY, "LiveQA"]]
    equal = [*health, *others, best == f1.loc[LLMS, "MedicationQA"].max()]
    return made | {"mh-text-llms": reading(f"{sum(equal)} agree", all(equal))}


def significant(tests):
    """Whether all comparisons are significant after Holm correction, and the p values in words.

    tests: {name: (least p, most p)}.
    """
    least, most = (stats.holm([ends[k] for ends in tests.values()]) for k in (0, 1))
    told = [f"{name}: p {low:.1g} to {high:.1g}" for name, (low, high) in tests.items()]
    return every(between(*ends, most=ALPHA) for ends in zip(least, most)), "; ".join(told)


def models(run):
    """Section 4.1: models compared with each other, and GPT-3.5 on the answers that it wrote."""
    known, weights, tables = printed_rates(run), shares(run), scores_of(run, SIX)
    made, marginal = {}, {}
    for name, of in (("weighted by pairs", weights), ("mean of the subsets", PLAIN)):
        tests = {
            m: p_ends(known, (SIX, m), (SIX, OPEN), "ma-F1", of, overlaps=("best", "none"))
            for m in PROPRIETARY
        }
        holds, told = significant(tests)
        made[f"macro-F1, {name}"] = outcome(told, holds)
    means = {x: overall(table, weights) for x, table in tables.items()}
    ahead = {x: mean[PROPRIETARY] - mean[OPEN] for x, mean in means.items()}
    told, both = in_words(ahead["Acc"], "+.3f"), [ahead["ma-P"], ahead["ma-R"]]
    made["accuracy over all answers"] = outcome(told, apart(ahead["Acc"], least=0))
    told = "precision {}; recall {}".format(*(in_words(each, "+.2f") for each in both))
    made["macro precision and recall"] = outcome(told, apart(both, least=0))
    better = {}
    for name, metric in (("macro-F1", "ma-F1"), ("accuracy", "Acc")):
        gap = tables[metric].loc["GPT-4"] - tables[metric].loc["GPT-3.5"]
        holds = apart(gap, least=-MARGIN, most=MARGIN)
        marginal[name] = outcome(in_words(gap, "+.2f"), holds)
        mean = means[metric]["GPT-4"] - means[metric]["GPT-3.5"]
        better[f"{name}, weighted by pairs"] = outcome(f"{mean:+.4f}", apart(mean, least=0))
    return {
        "mh-proprietary": made,
        "mh-marginal": marginal,
        "mh-gpt4-better": better,
        "mh-self": _own_answers(run, known),
    }


def _own_answers(run, known):
    """Section 4.1: GPT-3.5, which wrote the answers, compared with a coin and with laypeople."""
    from scipy.special import ndtr

    recall, f1 = wide(run, SIX, "ma-R").loc["GPT-3.5"], wide(run, SIX, "ma-F1")
    p = []
    for d, sizes in known.sizes.items():
        at = known.at[SIX, "GPT-3.5", d]
        p.append(2 * ndtr(-abs(recall[d] - 0.5) / ((at * (1 - at) / sizes).sum() ** 0.5 / 2)))
    better = (stats.holm(p) < ALPHA) & (recall[DATASETS] > 0.5)
    gap = float((f1.loc["GPT-3.5"] - f1.loc["Laypeople"]).mean())
    told = [f"{d} {recall[d]:.2f} (p {each:.1g})" for d, each in zip(DATASETS, p)]
    return {
        "no better than a coin": outcome(f"macro recall {', '.join(told)}", not better.any()),
        "no better than laypeople": outcome(
            f"{gap:+.2f} macro-F1, mean of the subsets", apart(gap, most=0)
        ),
    }


def experts(run):
    """Abstract, sections 1, 4.1, 5: experts compared with the models."""
    known, part = printed_rates(run), sample_share(run)
    made, live = {}, {}
    for name, metric, of in (
        ("accuracy over all answers", "Acc", shares(run)),
        ("macro-F1, mean of the subsets", "ma-F1", PLAIN),
    ):
        table = overall(wide(run, SIX, metric), of)
        tests = {m: p_ends(known, (SIX, "Experts"), (SIX, m), metric, of, (part, 1)) for m in LLMS}
        holds, _ = significant(tests)
        gaps = table["Experts"] - table[LLMS]
        told = f"{in_words(gaps, '+.2f')}; largest p {max(max(p) for p in tests.values()):.1g}"
        made[name] = outcome(told, holds)
    for name, k in (("one verdict an answer", 1), ("three verdicts an answer", 3)):
        tests = {
            m: p_ends(known, (SIX, "Experts"), (SIX, m), "Acc", {"LiveQA": 1}, (k * part, 1))
            for m in LLMS
        }
        least = min(low for low, _ in tests.values())  # uncorrected: the strict way here
        live[name] = outcome(significant(tests)[1], least > ALPHA)
    return {"mh-below-experts": made, "mh-below-experts-liveqa": live}


def much(run):
    """The least gap that section 4.1 calls much worse: of experts and laypeople, macro-F1."""
    f1 = wide(run, SIX, "ma-F1")
    return float((f1.loc["Experts"] - f1.loc["Laypeople"]).min())


def margin(run):
    """Section 5: how far models are behind experts, beside what section 4.1 calls much."""
    least, made = much(run), {}
    table = {x: wide(run, SIX, x) for x in ("ma-F1", "Acc")}
    gaps = {
        "macro-F1 in each subset": table["ma-F1"],
        "accuracy in each subset": table["Acc"],
        "macro-F1, mean of the subsets": overall(table["ma-F1"]).to_frame(),
        "accuracy over all answers": overall(table["Acc"], shares(run)).to_frame(),
    }
    for name, scores in gaps.items():
        gap = scores.loc["Experts"] - scores.loc[LLMS]
        told = f"{gap.min(axis=None):.2f} to {gap.max(axis=None):.2f}"
        made[f"{name}, at least {least:.2f}"] = outcome(told, apart(gap - least, least=0))
    return {"mh-very-large": made}


def laypeople(run):
    """Abstract, sections 1, 4.1, 5: laypeople, experts and models; the hardest subset."""
    known, weights, part = printed_rates(run), shares(run), sample_share(run)
    table = {x: wide(run, SIX, x) for x in ("Acc", "ma-P", "ma-R", "ma-F1")}
    gap = table["ma-F1"].loc["Experts"] - table["ma-F1"].loc["Laypeople"]
    both = (SIX, "Experts"), (SIX, "Laypeople")
    least, most = p_ends(known, *both, "Acc", weights, (part, part))
    means = overall(table["Acc"], weights)[PEOPLE]
    less = reading(in_words(gap, "+.2f"), apart(gap, least=0), name="macro-F1 in each subset")
    less["accuracy over all answers"] = outcome(
        f"{in_words(means, '.3f')}; p {least:.1g} to {most:.1g}", between(least, most, most=ALPHA)
    )
    beyond = {}
    for name, metric in (("macro-F1", "ma-F1"), ("accuracy", "Acc")):
        best = table[metric].loc[LLMS].max() - table[metric].loc["Laypeople"]
        holds = apart(best["LiveQA"], least=0), apart(best.drop("LiveQA"), most=0)
        beyond[name] = outcome(in_words(best, "+.2f"), every(holds))
    return {
        "mh-laypeople": less,
        "mh-no-better-but-liveqa": beyond,
        "mh-liveqa": hardest(table),
        "mh-no-better": _no_better(known, table, weights, part),
        "mh-worse-than-laypeople": worse(known, table, part),
    }


def hardest(table):
    """Section 4.1: how much lower scores on LiveQA are; table: {metric: `wide`}."""
    made = {}
    for name, who, metrics in (
        ("experts and laypeople, accuracy and macro-F1", PEOPLE, ("Acc", "ma-F1")),
        ("GPT-3.5 and GPT-4, macro-F1", PROPRIETARY, ("ma-F1",)),
    ):
        more = [table[x].loc[who].sub(table[x].loc[who, "LiveQA"], axis=0) for x in metrics]
        gaps = pd.concat([each.drop(columns="LiveQA") for each in more])
        told = f"LiveQA is lower by {gaps.min(axis=None):.2f} to {gaps.max(axis=None):.2f}"
        made[name] = outcome(told, apart(gaps, least=0))
    return made


def span_lengths(run):
    """4.1: is LiveQA's mean distance largest for the length of its spans, too? {} without MedHalu.

    Table 7 over the mean characters of a labelled span in your copy: of each model, by base set.
    """
    if (items := copy_of_medhalu(run)) is None:
        return {}
    spans = items.explode("spans").dropna(subset="spans")
    length = spans["spans"].str.len().groupby(spans["dataset"]).mean().reindex(DATASETS)
    each = wide(run, "Table 7", "Mean") / length
    lead = each["LiveQA"] - each.drop(columns="LiveQA").max(axis=1, skipna=False)
    told = f"mean length {in_words(length, '.0f')}; LiveQA ahead by {in_words(lead, '+.2f')}"
    return reading(told, near(lead, 2 * ROUNDED / length.min(), least=1e-9))


def _no_better(known, table, weights, part):
    """Abstract, sections 1, 5: each model compared with laypeople, on average, by each score."""
    made = {}
    ways = [("accuracy over all answers", "Acc", weights)]
    ways += [(f"{x}, mean of the subsets", m, None) for x, m in MACRO.items()]
    ways += [(f"{x}, weighted by pairs", m, weights) for x, m in MACRO.items()]
    for name, metric, of in ways:
        means = overall(table[metric], of)
        gap = means[LLMS] - means["Laypeople"]
        made[name] = outcome(in_words(gap, "+.3f"), apart(gap, most=0))
    means = overall(table["Acc"])
    ends = [p_ends(known, (SIX, m), (SIX, "Laypeople"), "Acc", PLAIN, (1, part)) for m in LLMS]
    least = min(stats.holm([low for low, _ in ends]))
    told = in_words(means[LLMS] - means["Laypeople"], "+.3f")
    name = "accuracy, mean of the subsets: not significantly better"
    return made | reading(f"{told}; least p {least:.1g} (Holm)", least > ALPHA, name=name)


def worse(known, table, part):
    """Abstract: cases (a model in a subset) in which laypeople score higher."""
    made = {}
    for name, metric in (("macro-F1", "ma-F1"), ("accuracy", "Acc")):
        gap = (table[metric].loc["Laypeople"] - table[metric].loc[LLMS]).stack()
        ends = [
            p_ends(known, (SIX, "Laypeople"), (SIX, m), metric, {d: 1}, (part, 1))
            for m, d in gap.index
        ]
        least, most = (min(stats.holm(p)) for p in zip(*ends))
        behind = gap > ROUNDED
        made[f"{name}, some case"] = outcome(f"{behind.sum()} of {gap.size} cases", behind.any())
        made[f"{name}, some case, significantly"] = outcome(
            f"smallest p {least:.1g} to {most:.1g} (Holm)", between(least, most, most=ALPHA)
        )
    return made
