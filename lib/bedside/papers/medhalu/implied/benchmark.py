"""Readings of MedHalu's claims on its benchmark (section 2, appendix A), by subject."""

import numpy as np

from bedside import stats
from bedside.read.claims import between, every, in_words, outcome, reading, same

from ..data import DATASETS, copy_of_medhalu, liveqa_train
from .numbers import ALPHA, ROUNDED, SHORT, grid, listed, overall, shares, text, wide
from .rates import mean_rates, printed_rates

ABOUT = 2.5  # percentage points that "about" allows
PERSONAL = r"\S+@\w+\.\w+|\(?\b\d{3}\)?[-. ]\d{3}[-. ]\d{4}\b"  # mail, telephone
PROMPTS = ("Table 5", "Table 9")  # of detection, without and with a reason
DEFINED = {"as section 2.1 defines it": "text 2.1", "as the generator was asked": "appendix A.2"}


def counts(run):
    """Tables 3 and 4: sums, balance, and the number of experts."""
    from scipy.stats import chi2_contingency

    four, three = grid(run, "Table 4"), text(run, "Table 3")
    types = four.drop(index="Total")
    cells = types[list(SHORT.values())]
    rows, columns = cells.sum(axis=1) == types["Total"], types.sum() == four.loc["Total"]
    groups = three.groupby(three.index.str.split(":").str[0]).sum()
    experts = text(run, "text 2.3")["medical experts"]
    p, each = stats.even(types["Total"]), [stats.even(cells[d]) for d in cells]
    alike = float(chi2_contingency(cells).pvalue)
    return {
        "mh-rows": reading(f"{rows.sum()} of 4 do", rows.all()),
        "mh-columns": reading(f"{columns.sum()} of 4 do", columns.all()),
        "mh-balanced": {
            "all subsets": outcome(f"chi-squared p = {p:.2f}", p > ALPHA),
            "in each subset": outcome(
                f"chi-squared p = {listed(each, '.2f')}", min(stats.holm(each)) > ALPHA
            ),
            "in the same shares in all subsets": outcome(
                f"chi-squared p = {alike:.2f}", alike > ALPHA
            ),
        },
        "mh-thirty": reading(in_words(groups, ".0f"), (groups == experts).all()),
    }


def answers(run):
    """Abstract, sections 1, 2.2: how many queries, answers and spans are as the text describes."""
    four, asked = grid(run, "Table 4")["Total"], text(run, "askers of 2.2") == 1
    whole, spans = four["Total"], text(run, "text 4.1")["pairs with experts' spans"]
    made = {
        "mh-patients": (
            "who asked them",
            grid(run, "text 2.2")["pairs"][asked].sum(),
        ),
        "mh-each-query": ("each answer is hallucinated", whole - four["None-conflict"]),
        "mh-labelled": ("spans that the evaluation has", spans),
    }
    found = {
        id: reading(f"{n:.0f} of {whole:.0f} ({n / whole:.0%})", n == whole, name=name)
        for id, (name, n) in made.items()
    }
    if (items := copy_of_medhalu(run)) is not None:
        spans = items.loc[items["type"] != "none", "spans"]
        marked, n = spans.map(len).gt(0).sum(), len(spans)
        told = f"{marked} of {n} hallucinated answers have spans"
        found["mh-labelled"] |= reading(told, marked == n, name="spans in the set itself")
    return found


def raters(run):
    """Section 2.3: the sample and its batches, the raters and their pay, kappa with the labels."""
    said, pay = text(run, "text 2.3"), text(run, "appendix B")
    share = 100 * said["sampled pairs"] / grid(run, "Table 4").at["Total", "Total"]
    again = text(run, "text 3.1")
    made = [
        *said["batches"] * said[["pairs of a batch", "experts of a batch"]],
        *again["batches"] * again[["pairs of a batch", "evaluators of a batch"]],
    ]
    groups = (
        said[["sampled pairs", "medical experts"]].tolist(),
        again[["sampled pairs", "experts"]],
    )
    six = text(run, "ethical considerations")["medical experts"]
    hourly = pay["payment"] / pay["time"]
    return {
        "mh-share": reading(
            f"{share:.1f}%",
            abs(share - said["sampled share"]) < ABOUT,
            name=f"within {ABOUT} points",
        ),
        "mh-batches": reading(
            "{:.0f}, {:.0f} (2.3); {:.0f}, {:.0f} (3.1)".format(*made),
            made == [*groups[0], *groups[1]] and again["experts"] == again["laypeople"],
        ),
        "mh-six": reading(f"{six:.0f} (ethical considerations)", six == said["medical experts"]),
        "mh-pay": reading(f"{hourly:.0f}", hourly == said["hourly rate"]),
        "mh-kappa": kappas(run, said["expert annotators"] - ROUNDED, said["sampled pairs"]),
    }


def kappas(run, least, pairs):
    """Readings of an average kappa with the labels of at least `least`, on so many pairs.

    A rater's kappa is never above the rater's accuracy, so no mean of kappas is above the mean
    accuracy.
    """
    each = wide(run, "Table 6", "Acc").loc[["Experts"]] + ROUNDED
    mean, best = float(overall(each, shares(run)).iloc[0]), float(each.max(axis=None))
    at, share = mean_rates(printed_rates(run), "Experts")
    one = stats.score("kappa", 1, share, at[0] * share, (1 - at[1]) * (1 - share))[0]
    pooled = float(stats.most_kappa(mean))
    majority = float(stats.most_kappa(min(1, 1.5 * mean)))  # two right verdicts of three each
    right = _least_right(least, share, int(pairs))
    split = 3 * (1 - mean) - 3 * (1 - right)  # wrong verdicts beside a right majority
    return {
        "mean over raters, hallucinated or not": outcome(
            f"at most {mean:.2f}, the mean accuracy ({best:.3f} in the best subset)",
            between(-1, best, least=least),
            high=best,
        ),
        "all verdicts pooled, hallucinated or not": outcome(
            f"{one:.2f} by Table 6; at most {pooled:.2f}",
            between(-1, pooled, least=least),
            high=pooled,
        ),
        "majority of three, hallucinated or not": outcome(
            f"possible: majority right in {right:.0%} of answers, {split:.0%} or more split 2 to 1",
            between(-1, majority, least=least),
            high=majority,
        ),
    }


def _least_right(least, share, n):
    """The smallest share of n answers that must be right for a kappa of `least`.

    share: of answers that are hallucinated.
    """
    missed = np.arange(round(share * n)) / n  # all errors of the common class: the best kappa
    made = stats.score("kappa", 1, share, share - missed, 0)
    return float(1 - missed[made >= least].max())


def questions(run, lengths):
    """Section 2.2, checklist: sizes, lengths, personal data; lengths: as of `length_table`."""
    raw = lengths[lengths["source"] == "raw"].set_index(["row", "column"])["value"]
    train, found = liveqa_train(run), {}
    for d in DATASETS:
        there = d != "LiveQA" or train is not None  # its test set isn't the paper's
        for column in ("pairs", "words, mean", "words, standard deviation"):
            id = f"mh-{d.lower()}-{column.split()[-1]}"
            got = raw.get((d, column)) if there else None  # no file, no reading: data are missing
            found[id] = same(run, id, got, 0 if column == "pairs" else 2)
    texts = {"LiveQA": train["message"]} if train is not None else {}
    if run.profile == "public":
        texts = {"MedicationQA": run.load("medicationqa")["Question"]} | texts
    found["mh-personal"] = {}
    for d, asked in texts.items():
        n = int(asked.str.contains(PERSONAL).sum())
        told = f"{n} of {len(asked)} with a mail address or a telephone number"
        found["mh-personal"][d] = outcome(told, n == 0)
    return found


def prompts(run):
    """Appendix A, Tables 5 and 9: what the prompts ask about, and what they show."""
    three = grid(run, "appendix A").nunique()
    asked = {table: named(run, table, "input-conflicting") for table in PROMPTS}
    shown = {table: named(run, table, "slots") for table in PROMPTS}
    told = " and ".join(sorted(set.union(*asked.values())))
    made = {}
    for name, table in DEFINED.items():
        of = named(run, table, "input-conflicting")
        words = f"{table.split()[-1]}: with the {' and the '.join(sorted(of))}"
        made[name] = outcome(
            f"Tables 5 and 9: with the {told}; {words}", all(each == of for each in asked.values())
        )
    slots = ", ".join(sorted(set.union(*shown.values())))
    return {
        "mh-input-definition": made
        | reading(
            f"asked about: {told}; shown: {slots}",
            every(asked[t] <= shown[t] for t in PROMPTS),
            name="by what the prompts show",
        ),
        "mh-same-example": {
            "a definition of its own": outcome(
                f"{three['definition']:.0f} definitions for 3 types", three["definition"] == 3
            ),
            "an example of its own": outcome(
                f"{three['example answer']:.0f} different example answers for 3 types",
                three["example answer"] == 3,
            ),
        },
    }


def named(run, table, row):
    """What a definition or prompt names: the columns of a printed table that have a 1 in a row."""
    cells = grid(run, table).loc[row]
    return set(cells.index[cells == 1])
