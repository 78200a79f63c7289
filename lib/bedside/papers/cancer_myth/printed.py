"""Cancer-Myth's printed numbers: what each allows, and what they allow together."""

import itertools

import numpy as np

from bedside import stats
from bedside.read import published
from bedside.stats.rounded import Rounded
from bedside.write.tables import Row, frame

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
HALF = 0.005  # half a last digit of PCS
WEIGHTS = {"three": None, "three_linear": "linear", "three_quadratic": "quadratic"}  # of kappas
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


def grim_table(run):
    """The counts out of QUESTIONS that print as each PCR: the smallest and the range, or None.

    Also those of grades 0 and -1 that the paper's figures allow together.
    """
    rows = []
    for version in TEXTS:
        for model, rate in rates(run, version).items():
            found = stats.grim_counts(rate, QUESTIONS, decimals(rate))
            counts = (found[0], found[0], found[-1]) if found else (None, None, None)
            rows.append(Row(model, f"count, {TEXTS[version]}", "recomputed", *counts, QUESTIONS))
    for model, found in grades(run).items():
        for name, counts in zip(("graded 0", "graded −1"), list(zip(*found))[1:]):
            ends = min(counts), max(counts)
            value = counts[0] if len(counts) == 1 else None
            rows.append(Row(model, f"{name}, {TEXTS[1]}", "recomputed", value, *ends, QUESTIONS))
    return frame(rows)


def possible_p(run, a, b):
    """The p-values that two of the paper's PCRs allow: (paired, unpaired).

    paired: of an exact McNemar test on the same questions, one for each possible overlap, the least
    first; unpaired: of a test of two proportions.
    """
    found = rates(run, 1)
    x, y = (stats.grim_counts(found[model], QUESTIONS, 1)[0] for model in (a, b))
    paired = stats.paired_p([x], [y], QUESTIONS)["exact"]
    return sorted(paired.tolist()), stats.two_proportions(x, QUESTIONS, y, QUESTIONS)


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
            if abs(total / n - pcs) <= HALF + 1e-9 and (read != read or total == read)
        ]
        for model, pcr, pcs, read in said[["PCR", "PCS", "total"]].itertuples()
    }


def possible_pcs_p(run, a, b):
    """The p-values that the grades of two models allow: (least, most) paired, and unpaired.

    paired: of a permutation test on the same questions, over all ways to pair the grades; unpaired:
    of a t test. Any p, if the printed numbers contradict each other.
    """
    from scipy.stats import ttest_ind

    paired, unpaired, found = [], [], grades(run)
    for x, y in itertools.product(found[a], found[b]):
        values = np.repeat([1, 0, -1], x), np.repeat([1, 0, -1], y)
        paired += stats.permutation_range(*values)
        unpaired.append(ttest_ind(*values).pvalue)
    return tuple((min(p, default=0.0), max(p, default=1.0)) for p in (paired, unpaired))


def possible_ways(run, a, b):
    """The p-values that the printed numbers of two models allow, by way of testing: (least, most).

    Paired: over all ways in which grades of the two can fall on the same questions.
    """
    pcr, pooled = possible_p(run, a, b)
    paired, unpaired = possible_pcs_p(run, a, b)
    return {
        "PCR, paired": (pcr[0], pcr[-1]),
        "PCR, unpaired": (pooled, pooled),
        "PCS, paired": paired,
        "PCS, unpaired": unpaired,
    }


def p_table(run):
    """The two printed p-values beside those that are possible, to two digits.

    The third pair is the likely repair of the second.
    """
    said = run.published("v1 text 4.3").query("column == 'p'").set_index("row")["value"]
    rows = []
    for a, b in TESTED:
        row = f"{a} over {b}"
        rows += [Row(row, "p", "published", said[row])] if row in said else []
        for way, ends in possible_ways(run, a, b).items():
            names = ("least", "most")[: len(set(ends))]
            rows += [
                Row(
                    row, f"{way}: {end}" if len(names) > 1 else way, "recomputed", float(f"{p:.2g}")
                )
                for end, p in zip(names, ends)
            ]
    return frame(rows)


# ---- agreement with people (appendix C, Table 1)


def judge_counts(run, n=ANNOTATED):
    """(exact matches, answers graded 0, exact matches among these) that print as the two shares.

    -1 and 1 were matched exactly, so every disagreement is on an answer that people graded 0.
    """
    exact = published.value(run.paper, "v1 Table 1", "Presupposition correction", "exact match")
    zero = published.value(run.paper, "v1 text C.1", "Answers that humans graded 0", "exact match")
    return [
        (matched, zeros, right)
        for matched in stats.grim_counts(exact, n, 2)
        for zeros in range(1, n + 1)
        for right in stats.grim_counts(zero, zeros, 2)
        if n - matched == zeros - right
    ]


def _confusions_of(n, zeros, right, raised=0):
    """Counts (people, judge) of -1, 0 and 1: a table for each number of 1s that people gave.

    All errors are on people's 0s (C.1). The judge grades `raised` of these 1, the others -1.
    """
    lowered = zeros - right - raised
    return [
        np.array([[n - zeros - ones, 0, 0], [lowered, right, raised], [0, 0, ones]])
        for ones in range(n - zeros + 1)
    ]


def kappa_of(table, weights=None):
    """Cohen's kappa of counts (k, k)."""
    return stats.kappa(*_ratings(table), range(len(table)), weights=weights).value


def ac1_of(table):
    """Gwet's AC1 of counts (k, k)."""
    return stats.gwet(_ratings(table), range(len(table)))


def _ratings(table):
    """The ratings (2, n) of two raters that counts (k, k) count."""
    return np.repeat(list(np.ndindex(table.shape)), table.ravel(), axis=0).T


def possible_confusions(run):
    """Confusion matrices of the paper's judge that its printed shares allow (appendix C.1)."""
    binary = published.value(run.paper, "v1 Table 1", "Presupposition correction", "binary match")
    return [
        table
        for _, zeros, right in judge_counts(run, ANNOTATED)
        for alike in stats.grim_counts(binary, ANNOTATED, 2)
        if (raised := ANNOTATED - alike) <= zeros - right
        for table in _confusions_of(ANNOTATED, zeros, right, raised)
    ]


def kappas(tables):
    """Coefficients of agreement that confusion matrices allow, by name: `Rounded`."""
    halves = np.array([[1, 1, 0], [0, 0, 1]])  # -1 and 0 against 1
    joined = [halves @ t @ halves.T for t in tables if t[2, 2]]  # where both occur
    found = {"two": [kappa_of(t) for t in joined]}
    for name, weights in WEIGHTS.items():
        found[name] = [kappa_of(t, weights) for t in tables]
    found["three_ac1"] = [ac1_of(t) for t in tables]
    return {name: Rounded(min(v), np.median(v), max(v)) for name, v in found.items() if v}
