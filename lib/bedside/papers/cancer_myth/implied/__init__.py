"""Cancer-Myth's printed numbers: what each allows, and what they allow together."""

import itertools
from math import floor, log10

import numpy as np

from bedside import stats
from bedside.read import published
from bedside.read.claims import between, every, outcome, reading
from bedside.write.tables import Row, frame

from ..data import CATEGORIES

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
SHARES = "the printed shares"
WEIGHTS = {"unweighted": None, "linear weights": "linear", "quadratic weights": "quadratic"}
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


def grim_table(run):
    """The counts out of QUESTIONS that print as each PCR: the smallest and the range, or None.

    Also those of grades 0 and -1 that the paper's figures allow together.
    """
    rows = []
    for version in TEXTS:
        for model, rate in rates(run, version).items():
            decimals = 0 if rate == round(rate) and rate != 40 else 1  # 40 is printed as 40.0
            found = stats.grim_counts(rate, QUESTIONS, decimals)
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


def sums(run):
    """Sums of grades by category and model: the only whole ones that the bars of Figure 7 allow.

    A bar is read to about a pixel; a sum is missing if that leaves none or several.
    """
    bars, size = run.published("v1 Figure 7"), category_sizes(run)
    n = bars["row"].map(size)
    least, most = np.ceil(bars["low"] * n), np.floor(bars["high"] * n)
    bars = bars.assign(value=least.where(least == most))
    return bars.pivot(index="row", columns="column", values="value").loc[size.index]


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


def impossible_pairs(run):
    """Models whose PCR and PCS in the summary no grades can give; the share of -1 is PCR - PCS."""
    rows = run.published("v2 Main results").pivot(index="row", columns="column", values="value")
    right = rows["PCR"] / 100
    unaware = right - rows["PCS"]
    slack = 0.0005 + 0.005  # both are rounded
    return rows.index[(unaware < -slack) | (unaware + right > 1 + slack)].tolist()


def count_readings(run):
    """Reading of the claim on the number of candidates, {id: readings}: do its parts add up?"""
    said = run.published("v1 text 4.1").set_index(["row", "column"])["value"]["candidates"]
    parts = said.drop("all")
    told = " + ".join(f"{part:.0f}" for part in parts)
    holds = parts.sum() == said["all"]
    return {"cm-candidates-sum": reading(f"{told} = {parts.sum():.0f}", holds)}


def score_readings(run):
    """Readings of the claims on printed rates and p-values, {id: readings}."""
    grim = grim_table(run)
    found = {}
    for version in TEXTS:
        counts = grim.loc[grim["column"] == f"count, {TEXTS[version]}", "value"]
        possible = counts.notna()
        found[f"cm-v{version}-grim"] = reading(f"{possible.sum()} can be", possible.all())
    for id, version in (("cm-v1-below-30", 1), ("cm-v2-below-43", 2)):
        most = published.value(run.paper, f"v{version} abstract", "best model", "PCR")
        best = rates(run, version).max()
        found[id] = reading(f"highest printed {best}%", best <= most)
    bad = impossible_pairs(run)
    found["cm-v2-pairs"] = reading(", ".join(bad) or "all possible", not bad)
    return {**found, **p_readings(run), **_order_readings(run)}


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


def p_readings(run):
    """Are the printed p-values among those that the printed rates and scores allow?

    A way of testing that leaves it open is not given: it needs the grades question by question.
    """
    found = {}
    for id, (a, b) in zip(("cm-p-gemini", "cm-p-claude"), TESTED):
        said = published.value(run.paper, "v1 text 4.3", f"{a} over {b}", "p")
        half = 0.5 * 10 ** floor(log10(said))  # p has one digit
        found[id] = {}
        for name, (low, high) in possible_ways(run, a, b).items():
            told = f"p = {low:.1g}" if low == high else f"p from {low:.1g} to {high:.2g}"
            holds = between(low, high, said - half, said + half)
            if holds is not None:
                found[id][name] = outcome(told, holds, low, high)
    return found


def _order_readings(run):
    """Which of two models corrects more, as printed and beyond chance."""
    rate = rates(run, 1)
    first, second, *_ = rate.sort_values(ascending=False).index
    top = reading(f"{first} {rate[first]}%", first == "Gemini-1.5-Pro", name="the printed rates")
    return {
        "cm-best": top | _beyond_chance(run, first, second),
        "cm-gemini-over-claude": _above(run, "Gemini-1.5-Pro", "Claude-3.5-Sonnet"),
        "cm-claude-over-gpt4o": _above(run, "Claude-3.5-Sonnet", "GPT-4o"),
        "cm-agents": _above(run, "GPT-4o", "MDAgents (GPT-4o)"),
        "cm-not-aligned": _alignment(run),
    }


def _above(run, a, b):
    """Does one model correct more than another?"""
    rate = rates(run, 1)
    told = f"{rate[a]} against {rate[b]}%"
    return reading(told, rate[a] > rate[b], name="the printed rates") | _beyond_chance(run, a, b)


def _beyond_chance(run, a, b):
    """Do two models' PCRs differ beyond chance, at any overlap, and as unpaired shares?"""
    paired, pooled = possible_p(run, a, b)
    return {
        "paired, whatever the overlap": outcome(
            f"p of at most {paired[-1]:.2g}", paired[-1] < 0.05
        ),
        "unpaired": outcome(f"p = {pooled:.1g}", pooled < 0.05),
    }


def _alignment(run):
    """Is the model that physicians rated best another than the one that corrects most?"""
    score = run.published("v1 text 2.2").set_index("row")["value"].drop("Social workers")
    rate = rates(run, 1)
    best, corrects = score.idxmax(), rate.idxmax()
    told = f"{best} rated {score[best]:.2f}, {corrects} {score.get(corrects, np.nan):.2f}"
    told += f"; corrected {rate.get(best, np.nan)} and {rate[corrects]}%"
    return reading(told, best != corrects)


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


def judge_readings(run):
    """Readings of the claims on the paper's judge and categoriser, {id: readings}."""
    n, fits = ANNOTATED, judge_counts(run)
    said = run.published("v1 Table 1").set_index("column")["value"]
    exact, labels = said["exact match"], said["label agreement"]
    binary = said["binary match"]
    zeros = " or ".join(f"{zeros}" for _, zeros, _ in fits) or "no number of"
    found = _kappas(possible_confusions(run))
    three = max((found[f"three grades, {name}"][1] for name in WEIGHTS if found), default=1.0)
    two = True if binary == 100 else None  # without an error kappa is 1, else it isn't known
    return {
        "cm-c1-exact": _share_of(exact, n),
        "cm-c1-zero": reading(f"{zeros} such answers fit both shares", bool(fits), name=SHARES),
        "cm-c1-binary": reading(
            f"{exact:.2f} to 100%, by what is said of 0s",  # the least if errors were 1s for 0s
            between(exact, 100, binary, binary),
            exact,
            100,
            name=SHARES,
        ),
        "cm-c2-categories": _share_of(labels, n),
        "cm-c1-chance": _reliable(found),
        "cm-pcr-agrees": reading(
            f"two grades match in {binary:g}%; kappa of three is at most {three:.2f}",
            every([three < 1, two]),
        ),
    }


def _share_of(percent, n):
    """The reading that a number of n answers prints as this percentage."""
    counts = stats.grim_counts(percent, n, 2)
    told = " or ".join(map(str, counts)) or "no number"
    return reading(f"{told} of {n} prints as {percent}%", bool(counts), name=SHARES)


def _kappas(tables):
    """Least and largest coefficient of confusion matrices, by name; none without a matrix."""
    if not tables:
        return {}
    halves = np.array([[1, 1, 0], [0, 0, 1]])  # -1 and 0 against 1
    joined = [halves @ t @ halves.T for t in tables if t[2, 2]]  # where both occur
    found = {"two grades": [kappa_of(t) for t in joined]}
    for name, weights in WEIGHTS.items():
        found[f"three grades, {name}"] = [kappa_of(t, weights) for t in tables]
    found["three grades, Gwet's AC1"] = [ac1_of(t) for t in tables]
    return {name: (min(values), max(values)) for name, values in found.items()}


def _reliable(found):
    """Is agreement more than fair, allowing for chance, for all counts that the shares allow?"""
    made = {}
    for name, (low, high) in found.items():
        told = f"{low:.2f} to {high:.2f}" if low < high else f"{low:.2f}"
        made[name] = outcome(told, between(low, high, least=FAIR), low, high)
    return made
