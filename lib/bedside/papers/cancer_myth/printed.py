"""Cancer-Myth's printed numbers: what each allows, and what they allow together."""

import itertools

import numpy as np

from bedside import stats
from bedside.read import published
from bedside.stats.rounded import Rounded

from .data import CATEGORIES

QUESTIONS, ANNOTATED = 585, 76  # released questions; answers that people graded (appendix C)
FAIR = 0.4  # agreement is more than fair above this kappa (Landis and Koch 1977)
SUMMARY = "summary of version 2"  # a third party's; the second version itself is not at hand
RESULTS = {  # where models' PCR and PCS are printed: 1 in the paper, 2 in the summary
    "v1 Figure 6a": 1,
    "v2 Main results": 2,
    "v2 text results": 2,
}
TESTED = [  # whose p-values section 4.3 gives, and which pair the second one may be of
    ("Gemini-1.5-Pro", "Claude-3.5-Sonnet"),
    ("Claude-3.5-Sonnet", "GPT-4o"),
    ("Claude-3.5-Sonnet", "GPT-4-Turbo"),
]
TEXTS = {1: "the paper", 2: SUMMARY}
WEIGHTS = {"three": None, "three_linear": "linear", "three_quadratic": "quadratic"}  # of kappas
AGAIN = "no longer ignored, at least, %"  # when its author is asked a question once more
ON = " on questions by "  # in the names of Figure 6b's rows


# ---- rates and scores (section 4.3)


def scores(run):
    """Printed PCR and PCS of the paper (1) and the summary (2): row, column, value, version."""
    rows = run.published(*RESULTS)
    other = rows["row"].str.contains("best model| on | with GEPA")
    rows = rows[rows["column"].isin(["PCR", "PCS"]) & ~other]
    return rows.assign(version=rows["table"].map(RESULTS))


def rates(run, version):
    """Printed PCR of the paper (1) or the summary (2) by model, in percent."""
    rows = scores(run)
    mine = rows[(rows["column"] == "PCR") & (rows["version"] == version)]
    return mine.set_index("row")["value"].rename(f"version {version}")


def decimals(rate):
    """How many decimals a PCR is printed with."""
    return 0 if rate == round(rate) and rate != 40 else 1  # 40 is printed as 40.0


def bar_sums(run):
    """(least, most) sum of grades by category and model that the bars of Figure 7 allow.

    A bar is read to about a pixel.
    """
    bars, size = run.published("v1 Figure 7"), category_sizes(run)
    n = bars["row"].map(size)
    bars = bars.assign(low=np.ceil(bars["low"] * n), high=np.floor(bars["high"] * n))
    wide = bars.pivot(index="row", columns="column").loc[size.index]
    return wide["low"], wide["high"]


def sums(run):
    """Sums of grades by category and model; one is missing if its bar leaves none or several."""
    least, most = bar_sums(run)
    return least.where(least == most)


def cross_model(run):
    """Figure 6b: PCS by the questions' generator (row) and the model that answers (column)."""
    cells = run.published("v1 Figure 6b")
    model, by = cells["row"].str.split(ON, expand=True).T.to_numpy()
    return cells.assign(row=by, column=model)


def asked_again(run):
    """Shares, %, of a model's own questions that it no longer ignores: at least, and at most.

    Each was kept because its author's answer had a grade of -1 (3.2). What is left of the sum of
    its grades on them (Figure 6b) is more than -1 each; grades of 1 are at most those of all its
    answers (6a). Rows: the share at least, and the most as its upper limit.
    """
    bars = run.published("v1 Figure 5b").set_index("row")["value"]
    own, corrected, rows = cross_model(run).set_index(["row", "column"])["value"], rates(run, 1), {}
    for model in sorted(set(bars.index) & set(own.index.get_level_values(0))):
        (size,) = stats.grim_counts(bars[model], QUESTIONS, 1)
        (ones,) = stats.grim_counts(corrected[model], QUESTIONS, 1)
        ends = own[model, model] - 0.005, own[model, model] + 0.005
        least, most = np.ceil(size * (1 + ends[0])), np.floor(size * (1 + ends[1]))
        low, high = (100 * float(n) / size for n in (least - min(ones, least // 2), most))
        rows[model, AGAIN] = stats.Interval(low, low, high, size)
    return rows


def category_sizes(run):
    """Number of questions by category (Figure 5a)."""
    return run.published("v1 Figure 5a").set_index("row")["value"].loc[list(CATEGORIES.values())]


def grades(run, n=QUESTIONS):
    """Numbers of grades 1, 0 and -1 by model that PCR, PCS and the bars of Figure 7 allow together.

    {model: [(ones, zeros, minus ones)]}; without any if they contradict each other.
    """
    said = run.published("v1 Figure 6a").pivot(index="row", columns="column", values="value")
    said["total"] = sums(run).sum(skipna=False)
    return {
        model: [
            (ones, n - 2 * ones + total, ones - total)
            for ones in stats.grim_counts(pcr, n, 1)
            for total in range(max(-n, 2 * ones - n), ones + 1)
            # bars that leave a model's sum open don't restrict it
            if abs(total / n - pcs) <= 0.005 + 1e-9 and (read != read or total == read)
        ]
        for model, pcr, pcs, read in said[["PCR", "PCS", "total"]].itertuples()
    }


def possible_ways(run, a, b):
    """The p-values that the printed numbers of two models allow, by way of testing: (least, most).

    Paired: over all ways in which grades of the two can fall on the same questions; of PCR exact
    McNemar tests, of PCS permutation tests. Unpaired: tests of two proportions and t tests. Any p
    of PCS, if the printed numbers contradict each other.
    """
    from scipy.stats import ttest_ind

    rate, found, n = rates(run, 1), grades(run), QUESTIONS
    x, y = (stats.grim_counts(rate[model], n, 1)[0] for model in (a, b))
    pooled = stats.two_proportions(x, n, y, n)
    graded = [
        [np.repeat([1, 0, -1], counts) for counts in pair]
        for pair in itertools.product(found[a], found[b])
    ]
    paired = [p for values in graded for p in stats.permutation_range(*values)]
    unpaired = [ttest_ind(*values).pvalue for values in graded]
    return {
        "PCR, paired": stats.mcnemar_range(x, y, n),
        "PCR, unpaired": (pooled, pooled),
        "PCS, paired": (min(paired, default=0.0), max(paired, default=1.0)),
        "PCS, unpaired": (min(unpaired, default=0.0), max(unpaired, default=1.0)),
    }


# ---- agreement with people (appendix C, Table 1)


def judge_counts(run):
    """(exact matches, answers graded 0, exact matches among these) that print as the two shares.

    -1 and 1 were matched exactly, so every disagreement is on an answer that people graded 0.
    """
    exact = published.value(run.paper, "v1 Table 1", "Presupposition correction", "exact match")
    zero = published.value(run.paper, "v1 text C.1", "Answers that humans graded 0", "exact match")
    n = ANNOTATED
    return [
        (matched, zeros, right)
        for matched in stats.grim_counts(exact, n, 2)
        for zeros in range(1, n + 1)
        for right in stats.grim_counts(zero, zeros, 2)
        if n - matched == zeros - right
    ]


def possible_confusions(run):
    """Confusion matrices (people, judge) of -1, 0 and 1 that the printed shares allow.

    All errors are on people's 0s (C.1); one for each number of 1s that people may have given.
    """
    binary = published.value(run.paper, "v1 Table 1", "Presupposition correction", "binary match")
    n = ANNOTATED
    return [
        np.array([[n - zeros - ones, 0, 0], [zeros - right - raised, right, raised], [0, 0, ones]])
        for _, zeros, right in judge_counts(run)
        for alike in stats.grim_counts(binary, n, 2)
        if (raised := n - alike) <= zeros - right
        for ones in range(n - zeros + 1)
    ]


def kappas(tables):
    """Coefficients of agreement that confusion matrices allow, by name: `Rounded`.

    two: of -1 and 0 against 1, where both occur. three_ac1: Gwet's.
    """
    found = {name: [] for name in ("two", *WEIGHTS, "three_ac1")}
    for table in tables:
        x, y = np.repeat(list(np.ndindex(3, 3)), table.ravel(), axis=0).T
        for name, weights in WEIGHTS.items():
            found[name].append(stats.kappa(x, y, range(3), weights=weights).value)
        found["three_ac1"].append(stats.gwet([x, y], range(3)))
        if table[2, 2]:
            found["two"].append(stats.kappa(x == 2, y == 2, [False, True]).value)
    return {name: Rounded(min(v), np.median(v), max(v)) for name, v in found.items() if v}
