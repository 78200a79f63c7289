"""Cancer-Myth's printed numbers: what they allow, by themselves and against each other."""

import pandas as pd

from bedside import published, stats
from bedside.claims import reading
from bedside.tables import Row, frame

QUESTIONS, ANNOTATED = 585, 76  # released questions; answers with physicians' grades (appendix C)
FAIR = 0.4  # a kappa above it is more than fair
RESULTS = {  # where models' PCR and PCS are printed, and in which version
    "v1 text 4.3": 1,
    "v1 introduction": 1,
    "v2 Main results": 2,
    "v2 text results": 2,
}
VERSIONS = (1, 2)


# ---- rates and scores (section 4.3)


def scores(run):
    """The printed PCRs and PCSs of both versions' models: row, column, value, version."""
    rows = run.published(*RESULTS)
    other = rows["row"].str.contains("best model| on | with GEPA")
    rows = rows[rows["column"].isin(["PCR", "PCS"]) & ~other]
    return rows.assign(version=rows["table"].map(RESULTS))


def rates(run, version):
    """Printed PCRs of a version by model, in percent."""
    rows = scores(run)
    mine = rows[(rows["column"] == "PCR") & (rows["version"] == version)]
    return mine.set_index("row")["value"].rename(f"version {version}")


def grim_table(run, n=QUESTIONS):
    """The counts out of n that print as each PCR: the smallest, and the range; empty if none."""
    rows = []
    for version in VERSIONS:
        for model, rate in rates(run, version).items():
            decimals = 0 if rate == round(rate) and rate != 40 else 1  # 40 is printed as 40.0
            found = stats.grim_counts(rate, n, decimals)
            counts = (found[0], found[0], found[-1]) if found else (None, None, None)
            rows.append(Row(model, f"count, version {version}", "recomputed", *counts, n))
    return frame(rows)


def possible_p(run, a, b, n=QUESTIONS):
    """(least, largest, pooled) p that two printed PCRs of the first version allow.

    Exact McNemar on shared questions, and two proportions.
    """
    found = rates(run, 1)
    x, y = (stats.grim_counts(found[model], n, 1)[0] for model in (a, b))
    return *stats.mcnemar_range(x, y, n), stats.two_proportions(x, n, y, n)


def impossible_pairs(run):
    """Models of the second version whose printed PCR and PCS no grades can give.

    The share of -1 is PCR - PCS.
    """
    rows = run.published("v2 Main results").pivot(index="row", columns="column", values="value")
    right = rows["PCR"] / 100
    unaware = right - rows["PCS"]
    slack = 0.0005 + 0.005  # both are rounded
    return rows.index[(unaware < -slack) | (unaware + right > 1 + slack)].tolist()


def count_readings(run):
    """Reading of the claim on the candidates' number, {id: readings}: do its parts add up to it?"""
    said = run.published("v1 text 4.1").set_index(["row", "column"])["value"]["candidates"]
    parts = said.drop("all")
    told = " + ".join(f"{part:.0f}" for part in parts)
    holds = parts.sum() == said["all"]
    return {"cm-candidates-sum": reading(f"{told} = {parts.sum():.0f}", holds)}


def score_readings(run):
    """Readings of the claims on printed rates and p-values, {id: readings}."""
    grim = grim_table(run)
    found = {}
    for version in VERSIONS:
        counts = grim.loc[grim["column"].str.endswith(f"version {version}"), "value"]
        possible = counts.notna()
        found[f"cm-v{version}-grim"] = reading(f"{possible.sum()} can be", possible.all())
    for id, version in (("cm-v1-below-30", 1), ("cm-v2-below-43", 2)):
        most = published.value(run.paper, f"v{version} abstract", "best model", "PCR")
        best = rates(run, version).max()
        found[id] = reading(f"highest printed {best}%", best <= most)
    return {**found, **_order_readings(run), **_version_readings(run)}


def _order_readings(run):
    """Which model beats which: the printed p beside those that the printed rates allow."""
    said = run.published("v1 text 4.3").set_index(["row", "column"])["value"]
    found = {}
    for id, a, b in (
        ("cm-p-gemini", "Gemini-1.5-Pro", "Claude-3.5-Sonnet"),
        ("cm-p-claude", "Claude-3.5-Sonnet", "GPT-4o"),
    ):
        least, most, pooled = possible_p(run, a, b)
        told = f"McNemar p from {least:.1g} to {most:.1g}; two-proportion p = {pooled:.1g}"
        found[id] = reading(told, least <= said[f"{a} over {b}", "p"] <= most)
    alone, agents, rate = "GPT-4o", "MDAgents (GPT-4o)", rates(run, 1)
    least, most, _ = possible_p(run, alone, agents)
    told = f"McNemar p from {least:.1g} to {most:.1g}"
    return {**found, "cm-agents": reading(told, rate[agents] < rate[alone])}


def _version_readings(run):
    """The two versions' PCRs against each other, and the second one's against its own PCSs."""
    both = pd.concat([rates(run, version) for version in VERSIONS], axis=1, join="inner")
    moved = both[both.iloc[:, 0].round() != both.iloc[:, 1].round()]
    told = "; ".join(f"{model}: {x} and {y}" for model, (x, y) in moved.T.items())
    bad = impossible_pairs(run)
    return {
        "cm-versions": reading(told or "the same", moved.empty),
        "cm-v2-pairs": reading(", ".join(bad) or "all possible", not bad),
    }


# ---- agreement with the physicians (appendix C, Table 1)


def judge_counts(run, n=ANNOTATED):
    """(exact matches, answers graded 0, exact matches of these) that print as the two shares.

    -1 and 1 were matched exactly, so every disagreement is about an answer that humans graded 0.
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


def kappas_of(n, exact, zeros, zeros_right):
    """Kappas of such counts, one for each number of human 1s.

    Errors are only among human 0s and only towards -1.
    """
    found = []
    for ones in range(n - zeros + 1):
        minus = n - zeros - ones
        wrong = zeros - zeros_right
        chance = (minus * (minus + wrong) + zeros * zeros_right + ones * ones) / n**2
        found.append((exact / n - chance) / (1 - chance))
    return found


def possible_kappas(run, n=ANNOTATED):
    """Kappas of the paper's judge that its printed shares allow (appendix C.1)."""
    return [kappa for counts in judge_counts(run, n) for kappa in kappas_of(n, *counts)]


def judge_readings(run):
    """Readings of the claims on the paper's judge and categoriser, {id: readings}."""
    n, fits, kappas = ANNOTATED, judge_counts(run), possible_kappas(run)
    said = run.published("v1 Table 1").set_index("column")["value"]
    exact, labels = said["exact match"], said["label agreement"]
    matched, alike = stats.grim_counts(exact, n, 2), stats.grim_counts(labels, n, 2)
    zeros = "no number of answers fits both shares"
    if fits:
        zeros = f"only {fits[0][1]} such answers fit both shares"
    between = f"kappa between {min(kappas):.2f} and {max(kappas):.2f}"
    return {
        "cm-c1-exact": reading(f"{matched[0]} of {n} print as {exact}%", len(matched) == 1),
        "cm-c1-zero": reading(zeros, len(fits) == 1),
        "cm-c1-binary": {},
        "cm-c2-categories": reading(f"{alike[0]} of {n}", bool(alike)),
        "cm-c1-chance": reading(between, min(kappas) > FAIR),
    }
