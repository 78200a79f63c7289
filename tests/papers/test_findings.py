"""Each finding is true: what its sentence says is computed again from the tables of `public`."""

import csv
from statistics import mean

import pytest

from bedside.read import claims, findings, paths

PUBLIC, SAMPLE = paths.FIGURES / "public", paths.FIGURES / "sample"
PAPERS = sorted(p.stem for p in paths.FINDINGS.glob("*.csv"))
FOUND = {f.id: (p, f) for p in PAPERS for f in findings.load(p, PUBLIC)}
SETS = ("HealthQA", "LiveQA", "MedicationQA")


def cells(paper, name, source="published"):
    """A table's numbers of one source: {(row, column): value}."""
    with open(PUBLIC / paper / f"{name}.csv", newline="", encoding="utf-8") as f:
        rows = [r for r in csv.DictReader(f) if r["source"] == source and r["value"]]
    return {(r["row"], r["column"]): float(r["value"]) for r in rows}


def column(numbers, name):
    """{row: value} of a column."""
    return {row: value for (row, c), value in numbers.items() if c == name}


def span(values):
    """[the least, the most] of values."""
    return [min(values), max(values)]


# ---- what each sentence says, from tables t(name, source): (whether it holds, its numbers)


def cm_few_corrected(t):
    rates = column(t("fig6a_scores", "published"), "PCR").values()
    return len(rates) == 8, [max(rates)]


def _fixes(t):
    """{system: (its rates without the fix, with it)}, each of questions of both kinds."""
    rates = t("fig_tradeoff", "published")
    ways = {"GPT-4o": "GEPA", "Gemini-2.5-Pro": "GEPA", "GPT-4o with MDAgents": "Monitor"}
    kinds = ("Cancer-Myth", "Cancer-Myth-NFP")
    return {
        s: tuple([rates[f"{s} {w}", k] for k in kinds] for w in ("Plain", way))
        for s, way in ways.items()
    }


def cm_fixes_cost(t):
    fixes = _fixes(t)
    costs = all(b[0] > a[0] and b[1] < a[1] for a, b in fixes.values())
    (corrected, left), (more, fewer) = fixes["Gemini-2.5-Pro"]
    return costs, [more, corrected, fewer, left]


def cm_fixes_pay(t):
    means = {s: [mean(rates) for rates in ways] for s, ways in _fixes(t).items()}
    least = min(b - a for a, b in means.values())
    return least > 2, [*means["GPT-4o"], *means["Gemini-2.5-Pro"]]  # rounding: a point at most


def cm_physicians(t):
    scores = column(t("fig2_scores", "published"), "mean score")
    workers = scores.pop("Social workers")
    alpha = t("table_survey_agreement", "raw")["all", "alpha, whole answers"]
    told = [min(scores.values()), max(scores.values()), workers, alpha]
    return workers < min(scores.values()) and len(scores) == 3 and abs(alpha) < 0.2, told


def cm_judge_partial(t):
    kept = t("fig_robust_partial", "published")["GPT-4o (C.1)", "share of 0s kept, %"]
    least = column(t("fig_robust_partial", "recomputed"), "least share of 0s kept, %")
    told = [kept, max(least.values()), least["Gemini-1.5-Pro"]]
    return len(least) == 8 and sum(x > kept for x in least.values()) == 6, told


def rad_free_lists(t):
    scores = t("table1_free_form", "published")
    precision, recall = column(scores, "Precision"), column(scores, "Recall")
    return len(recall) == 7, [max(recall.values()), *span(precision.values())]


def rad_copying(t):
    one = t("fig_robust_trivial", "raw")["the best list for all", "any record"]
    free = column(t("table1_free_form", "published"), "F1")
    sized = column(t("table2_list_size", "recomputed"), "F1, 20-30")
    chosen, chosen_sized = (
        column(t(name, "published"), "F1")
        for name in ("table3_selection", "table4_selection_list_size")
    )
    raised = all(chosen[m] > free[m] and chosen_sized[m] > sized[m] for m in free)
    most = max(*chosen.values(), *chosen_sized.values())
    return raised and len(free) == 7 and 0 < most + 0.005 < one, [most, one]


def rad_asked_length(t):
    changes = t("table2_list_size", "published")
    lost = [[-x for x in column(changes, f"Δ {of}").values()] for of in ("Precision", "F1")]
    return all(min(x) > 0 and len(x) == 7 for x in lost), [-x for of in lost for x in span(of)]


def rad_matcher(t):
    most = column(t("fig_robust_judge", "recomputed"), "F1 if every entry is right, at most")
    chosen = column(t("table3_selection", "published"), "F1")
    safe = [m for m in most if 0 < most[m] < chosen[m] - 0.005]
    left = column(t("fig_robust_judge", "recomputed"), "sensitivity that undoes the gain")
    told = safe == ["LLaMA-3.1-8B", "Gemma-2-9B", "O4-Mini", "GPT-5.3"]
    quarter = set(left) == set(most) - set(safe) and all(0.65 < v < 0.8 for v in left.values())
    return told and quarter, [most["O4-Mini"], chosen["O4-Mini"]]


def rad_rare(t):
    recall = t("table7_frequency", "published")
    gaps = {m: v - recall[m, "Rare"] for m, v in column(recall, "Common").items()}
    ends = [max(gaps, key=gaps.get), min(gaps, key=gaps.get)]
    told = [recall[m, of] for m in ends for of in ("Common", "Rare")]
    return min(gaps.values()) > 0 and len(gaps) == 7, told


def mh_experts(t):
    score = column(t("fig_detection", "published"), "macro F1")
    experts, gpt4, lay = (
        [score[f"{s}: {who}"] for s in SETS] for who in ("Experts", "GPT-4", "Laypeople")
    )
    ahead = all(e > max(others) for e, *others in zip(experts, gpt4, lay))
    return ahead, [*span(experts), *span(gpt4), *span(lay)]


def mh_reason(t):
    gains = column(t("table10_expert", "recomputed"), "Δ macro F1")
    gpt4 = [gains[f"{s}: GPT-4"] for s in SETS]
    return min(gains.values()) > 0 and len(gains) == 9, span(gpt4)


def mh_says_yes(t):
    rates = t("fig_notes", "recomputed")
    told = [
        rates[f"HealthQA: GPT-4, Table {n}", f"{of}, %"]
        for of in ("sensitivity", "specificity")
        for n in (10, 6)
    ]
    more, fewer = told[0] - told[1], told[3] - told[2]
    return more > 10 and fewer > 10, told


def mh_always_yes(t):
    printed, ours = t("table6_detection", "published"), t("table6_detection", "recomputed")
    right, unaided = (
        [numbers[f"{s}: {who}", "accuracy"] for s in SETS for who in names]
        for numbers, names in ((ours, ["always yes"]), (printed, ["LLaMA-2", "GPT-3.5", "GPT-4"]))
    )
    low = all(
        ours[f"{s}: always yes", "macro F1"] < score
        for s in SETS
        for row, score in column(printed, "macro F1").items()
        if row.startswith(s)
    )
    return min(right) > max(unaided) and low, [*span(right), *span(unaided)]


def mh_weight(t):
    rates, cost = t("fig_notes", "recomputed"), t("fig_robust_costs", "recomputed")
    weights, falls = [], []
    for m in ("GPT-4", "GPT-3.5"):
        more, fewer = (
            rates[f"HealthQA: {m}, Table 10", of] - rates[f"HealthQA: {m}, Table 6", of]
            for of in ("sensitivity, %", "specificity, %")
        )
        weights.append(-fewer / more)
        falls.append(more > 0 > more + fewer)
        second = cost[f"HealthQA: {m} told, {m}", "second, to"]
        falls.append(second < weights[-1] < cost[f"HealthQA: {m} told, {m}", "first, from"])
    shares = [100 * w / (1 + w) for w in weights]
    hallucinated = t("table6_detection", "recomputed")["HealthQA: always yes", "accuracy"]
    return all(falls) and 100 * hallucinated > max(shares), [*shares, hallucinated]


def _mean(t, level):
    return t("fig3_dose_response", "recomputed")[level, "published, mean of five models"]


def md_invention(t):
    factors = column(t("table_worst_case", "recomputed"), "fabricating over withholding")
    plain, invented, withheld = (_mean(t, x) for x in ("logic 0", "logic 2", "disclosure 2"))
    told = [plain, invented, withheld, *span(factors.values())]
    return invented < withheld < plain and min(factors.values()) > 1 and len(factors) == 5, told


def md_incoherent(t):
    right = t("table9_accuracy", "recomputed")
    alone, plain, invented = (_mean(t, x) for x in ("expression 2", "expression 0", "logic 2"))
    both = t("table4_interactions", "recomputed")["C2", "Mean Acc"]
    models = column(right, "baseline")
    each = all(right[m, "C2"] < right[m, "fabricating"] for m in models)
    return alone >= plain and each, [alone, plain, both, invented]


def md_pairs(t):
    printed = t("table4_interactions", "published")
    right, ratio = ([printed[c, of] for c in ("C1", "C2", "C3")] for of in ("Mean Acc", "O/E"))
    return max(ratio) < 1, [*span(right), *span(ratio)]


def md_invention_alone(t):
    ratios = t("fig_robust_choices", "recomputed")
    lies = [v for (row, _), v in ratios.items() if row.startswith("fabricate, withhold")]
    mean = {
        k: [v for (row, _), v in ratios.items() if row.startswith(f"{k}: mean loss")]
        for k in ("deny, withhold", "both moderate")
    }
    near = [v for values in mean.values() for v in values]
    told = [ratios[f"{k}: mean loss, printed", "points"] for k in mean]
    return len(lies) == 18 and min(lies) > 1.6 and len(near) == 12 and 0.9 < min(near) < max(
        near
    ) < 1.15, told


def md_again(t):
    rows = t("table_robust_selection", "recomputed")
    again = rows["baseline", "expected again, %"]
    lost, left = (
        rows["occasional_contradiction", k] for k in ("loss, points", "loss expected, points")
    )
    fell = rows["baseline", "accuracy, %"] - again
    with_, ratio = (
        rows["fabricating", k] / rows["withholding", k]
        for k in ("loss, points", "loss expected, points")
    )
    holds = fell > 0 and left == pytest.approx(lost - fell) and 0 < left < lost / 2
    return holds and ratio > with_, [again, lost, left]


SAYS = {
    name.replace("_", "-"): says
    for name, says in globals().copy().items()
    if name.startswith(("cm_", "rad_", "mh_", "md_"))
}


def told(finding, paper):
    """The numbers of a finding's sentence, in their order."""
    row = next(r for r in rows(paper) if r["id"] == finding.id)
    parts = [[x.strip() for x in m.split("|")] for m in findings.REFERENCE.findall(row["finding"])]
    return [cells(paper, name, source)[row, of] for name, row, of, source, *_ in parts]


def rows(paper):
    return csv.DictReader(
        (paths.FINDINGS / f"{paper}.csv").read_text(encoding="utf-8").splitlines()
    )


@pytest.mark.parametrize("id", FOUND)
def test_what_a_finding_says_is_so(id):
    paper, finding = FOUND[id]
    assert SAYS[id](lambda name, source: cells(paper, name, source)) == (
        True,
        pytest.approx(told(finding, paper)),
    )


@pytest.mark.parametrize("id", FOUND)
def test_it_would_not_be_so_if_the_tables_said_the_opposite(id):
    paper, finding = FOUND[id]

    def opposite(name, source):
        return {k: -v for k, v in cells(paper, name, source).items()}

    holds, numbers = SAYS[id](opposite)
    assert not holds or numbers != pytest.approx([-x for x in told(finding, paper)])


# ---- whose it is, and on what it rests


def test_the_front_page_begins_with_findings_of_all_studies_and_some_are_new():
    first = findings.foremost()
    assert len({*first}) == len(first) and {*first} <= {*FOUND}
    assert {FOUND[id][0] for id in first} == {*PAPERS}
    for paper in PAPERS:
        found = findings.load(paper, PUBLIC)
        assert [f.rank for f in found] == [*range(1, len(found) + 1)]
        assert {"paper", "found"} <= {f.of for f in found}


@pytest.mark.parametrize("id", FOUND)
def test_no_claim_that_differs_carries_a_finding_and_open_ones_are_said(id):
    paper, finding = FOUND[id]
    with open(PUBLIC / "claims.csv", newline="", encoding="utf-8") as f:
        verdicts = {r["id"]: claims.word(r["verdict"]) for r in csv.DictReader(f)}
    for claim in finding.claims:
        word, about = verdicts[claim], claims.load(paper)[claim]
        assert word != "not found"
        if about.kind == "claim":
            assert word != "differs" and finding.of in (about.of, "found")
        if word in ("depends", "undetermined", "needs", "not measured"):
            assert word.removesuffix("s") in finding.against, word


@pytest.mark.parametrize("id", FOUND)
def test_its_output_shows_a_number_of_it_and_none_is_of_a_run(id):
    paper, finding = FOUND[id]
    assert not finding.lacks
    assert finding.output in {cell[0] for cell in finding.cells}
    assert (PUBLIC / paper / f"{finding.output}.md").is_file()


@pytest.mark.parametrize("paper", PAPERS)
def test_what_the_sample_can_tell_is_the_same_there(paper):
    public = {f.id: f for f in findings.load(paper, PUBLIC)}
    there = findings.load(paper, SAMPLE)
    assert sum(not f.lacks for f in there) >= 3
    for f in there:
        assert f.lacks or f == public[f.id]
        assert set(f.lacks) <= set(public[f.id].cells)
