"""MedHalu: verdicts on its claims, and the numbers that they rest on."""

import itertools

import numpy as np
import pandas as pd
import pytest

from bedside import stats
from bedside.papers.medhalu import data, tables
from bedside.papers.medhalu.implied import benchmark, detection, notes, numbers, own, rates, types
from bedside.read import claims, sources

UNCOMPUTED = {"mh-spans-length", "mh-same-answers", "mh-leak"}
NEEDS_DATA = {"healthqa", "liveqa", "medicationqa"}  # sizes and lengths of base sets
# by readings: y yes, n no, o open, m data are missing
VERDICTS = {
    "mh-balanced": ("holds", "yyy"),
    "mh-six": ("differs", "n"),
    "mh-kappa": ("needs", "nnomm"),
    "mh-input-definition": ("differs", "nnn"),
    "mh-same-example": ("depends", "yn"),
    "mh-averages": ("undetermined", "nnno"),
    "mh-similar": ("depends", "yon"),
    "mh-proprietary": ("depends", "yony"),
    "mh-marginal": ("holds", "yy"),
    "mh-gpt4-better": ("undetermined", "oo"),
    "mh-below-experts": ("holds", "yy"),
    "mh-below-experts-liveqa": ("found", "yy"),
    "mh-laypeople": ("holds", "yy"),
    "mh-no-better": ("holds", "yyyyyyyy"),
    "mh-worse-than-laypeople": ("holds", "yyyy"),
    "mh-no-better-but-liveqa": ("holds", "yy"),
    "mh-liveqa": ("holds", "yy"),
    "mh-self": ("depends", "ny"),
    "mh-matrices": ("depends", "nyyn"),
    "mh-types-fit": ("differs", "n"),
    "mh-patients": ("not", "nm"),
    "mh-each-query": ("needs", "nm"),
    "mh-labelled": ("needs", "nm"),
    "mh-very-large": ("depends", "nnyy"),
    "mh-much-better": ("differs", "nn"),
    "mh-always-yes": ("found", "y"),
    "mh-always-yes-10": ("found", "yy"),
    "mh-fact-input": ("undetermined", "yoy"),
    "mh-caption": ("differs", "n"),
    "mh-reason-llama-2": ("differs", "n"),
    "mh-all-improve": ("depends", "yyyn"),
    "mh-gpt4-best": ("holds", "yy"),
    "mh-gain-average": ("holds", "y"),
    "mh-matrices-10": ("depends", "nnny"),
    "mh-yes": ("found", "yyy"),
    "mh-significant": ("needs", "oonnm"),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    from bedside.run import Run

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BEDSIDE_FIGURES", str(tmp_path_factory.mktemp("figures")))
        yield Run("medhalu", "02_detection", profile="sample")


@pytest.fixture(scope="module")
def made(run):
    """{claim: readings} of all that is computed."""
    lengths = tables.benchmark.length_table(run, data.printed_sets(run))
    parts = [benchmark.counts(run), benchmark.answers(run), benchmark.raters(run)]
    parts += [benchmark.prompts(run)]
    parts += [benchmark.questions(run, lengths), detection.claims(run), types.claims(run)]
    parts += [notes.claims(run), own.tables_6_and_8(run), own.table_10(run)]
    assert sum(map(len, parts)) == len(set(itertools.chain(*parts)))  # each once
    return {id: readings for part in parts for id, readings in part.items()}


@pytest.mark.parametrize("id", VERDICTS)
def test_the_verdict_follows_from_these_readings(made, id):
    verdict, rows = claims.judged("medhalu", id, made[id])
    said = "".join(row["holds"][0] for row in rows)
    assert (verdict.split()[0], said) == VERDICTS[id]


def test_every_other_claim_holds_or_says_what_it_needs(made):
    known = claims.load("medhalu")
    assert set(known) - set(made) == UNCOMPUTED
    others = set(known) - set(VERDICTS)
    for id in others:
        verdict, rows = claims.judged("medhalu", id, made.get(id, {}))
        if id == "mh-leak":
            assert verdict.startswith("not measured in the study"), id
        elif id in UNCOMPUTED | {"mh-personal"} or id.split("-")[1] in NEEDS_DATA - {"liveqa"}:
            assert verdict.startswith("needs "), id
        elif id.startswith("mh-liveqa-"):
            assert verdict.startswith("needs "), id
        else:
            assert verdict == "holds" and all(row["holds"] == "yes" for row in rows), id


def test_what_differs_says_what_was_tried_and_rests_on_no_test(made):
    for id, (verdict, _) in VERDICTS.items():
        claim, ways = claims.load("medhalu")[id], claims.listed("medhalu").get(id, {})
        assert (verdict == "differs") == bool(claim.tried), id
        if verdict == "differs":
            assert not any(way.tests for way in ways.values()), id
        assert "read as" not in claim.claim, id


def test_readings_are_short_and_their_ends_in_order(made):
    for id, readings in made.items():
        for name, (computed, low, high, _) in readings.items():
            assert len(str(computed)) <= 120, (id, name)
            assert low is None or high is None or low <= high, (id, name)


def computed(made, id, name=claims.AS_WRITTEN):
    return made[id][name][0]


def test_no_mean_of_kappas_is_above_the_mean_accuracy(made):
    """Table 6 has 0.76 for experts; the largest kappa of a mean accuracy is no bound of means."""
    tp, fp, fn, tn = np.random.default_rng(0).dirichlet(np.ones(4), 2000).T
    assert (stats.score("kappa", 1, tp + fn, tp, fp) <= tp + tn + 1e-12).all()
    # 81% perfect raters and 19% that are always wrong: 0.81 on average, above that bound
    perfect, wrong = stats.score("kappa", 1, np.array([0.5, 0.01]), [0.5, 0], [0, 0.99])
    assert 0.81 * perfect + 0.19 * wrong > stats.most_kappa(0.81)
    told = computed(made, "mh-kappa", "mean over raters, hallucinated or not")
    pooled = computed(made, "mh-kappa", "all verdicts pooled, hallucinated or not")
    limits = (told.split(",")[0], pooled.split("; ")[1])  # both are named in the question
    assert limits == ("at most 0.76", "at most 0.55")
    asked = claims.load("medhalu")["mh-kappa"].ask
    assert all(limit in asked for limit in limits)
    assert told.startswith("at most 0.76") and "0.815" in told
    assert made["mh-kappa"]["all verdicts pooled, hallucinated or not"][0].startswith("0.46")
    # 37 of 500 missed at 74.1%: chance 0.667 * 0.741 + 0.333 * 0.259 = 0.580, kappa 0.824
    assert benchmark.least_right(0.825, 0.741, 500) == 1 - 36 / 500


def test_who_always_says_yes_is_more_accurate_than_models(made):
    """By hand: GPT-4's 0.55 on MedicationQA is 0.19 below 511 of 690, LLaMA-2's 0.62 on HealthQA
    0.13 below 853 of 1141; with a reason, GPT-4's 0.81 is 0.06 above that.
    """
    assert computed(made, "mh-always-yes") == (
        "0 of 9 are more accurate, 9 are less; -0.19 to -0.13"
    )
    ten = [computed(made, "mh-always-yes-10", name) for name in made["mh-always-yes-10"]]
    assert [told.split("; ")[0] for told in ten] == [
        "2 of 9 are more accurate, 7 are less",
        "1 of 9 are more accurate, 6 are less",
    ]
    assert ten[0].endswith("-0.14 to +0.06")


def test_a_reason_leaves_few_of_the_answers_without_a_hallucination_accepted(made):
    told = {name: computed(made, "mh-yes", name) for name in made["mh-yes"]}
    assert told["any average, Table 4's shares"] == "GPT-3.5 0.87 to 0.19; GPT-4 0.87 to 0.27"
    assert told["one matrix a row, where there is one"] == "GPT-4 0.87 to 0.25"


def test_the_averages_of_section_1(run, made):
    f1 = numbers.wide(run, "Table 6", "ma-F1")
    assert numbers.overall(f1)[["Experts", "Laypeople", "GPT-4"]].tolist() == pytest.approx(
        [2.07 / 3, 1.69 / 3, 1.64 / 3]
    )
    weighted = numbers.overall(f1, numbers.shares(run))
    assert weighted["GPT-4"] == pytest.approx((1141 * 0.57 + 246 * 0.52 + 690 * 0.55) / 2077)
    known = rates.printed_rates(run)
    assert rates.pooled(known, "Experts") == pytest.approx((0.7197, 0.7300), abs=1e-3)
    least, most = rates.pooled(known, "GPT-4")
    assert least < 0.5550 and most > 0.5573  # of the matrices that print so
    # raters may differ so that their mean is the 0.70 of the text; if they are alike it is 0.725
    at, share = rates.mean_rates(known, "Experts")
    least, most = rates.mean_ends(at, share)
    assert least < 0.695 and most > 0.705
    assert least < stats.macro(rates.confusion(at, share, 1 - share))[3] < most


def test_p_values_by_the_delta_method_are_those_of_draws(run):
    """Of one subset: macro-F1 of GPT-4 and LLaMA-2 on HealthQA, unpaired, drawn as binomials."""
    known, rng = rates.printed_rates(run), np.random.default_rng(0)
    positive, negative = known.sizes["HealthQA"]
    f1 = []
    for name in ("GPT-4", "LLaMA-2"):
        s, c = known.at["Table 6", name, "HealthQA"]
        tp, tn = rng.binomial(positive, s, 20_000), rng.binomial(negative, c, 20_000)
        f1.append(stats.macro(np.stack([tp, negative - tn, positive - tp, tn], axis=-1))[:, 3])
    both = ("Table 6", "GPT-4"), ("Table 6", "LLaMA-2")
    error = rates.error(known, *both, "ma-F1", {"HealthQA": 1})
    assert error == pytest.approx((f1[0] - f1[1]).std(), rel=0.03)
    best, worst = (
        rates.error(known, *both, "ma-F1", {"HealthQA": 1}, overlap=o) for o in ("best", "worst")
    )
    assert best < error < worst


def test_an_overlap_without_discordant_pairs_leaves_no_error(run):
    known = rates.printed_rates(run)
    same = ("Table 6", "GPT-4"), ("Table 6", "GPT-4")
    assert rates.error(known, *same, "Acc", {"LiveQA": 1}, overlap="best") == pytest.approx(0)


def test_p_values_that_verdicts_rest_on(run):
    known, weights, part = rates.printed_rates(run), numbers.shares(run), numbers.sample_share(run)
    six = {name: ("Table 6", name) for name in numbers.LLMS + numbers.PEOPLE}
    for m in numbers.LLMS:  # experts over models, and over laypeople
        assert rates.p_ends(known, six["Experts"], six[m], "Acc", weights, (part, 1))[1] < 1e-9
    assert rates.p_ends(known, six["Experts"], six["Laypeople"], "Acc", weights, (part, part))[
        1
    ] == pytest.approx(7e-6, rel=0.2)
    for m, p in (("GPT-3.5", 0.036), ("GPT-4", 0.013)):  # over LLaMA-2, unpaired
        ends = rates.p_ends(known, six[m], six["LLaMA-2"], "ma-F1", weights)
        assert ends[1] == pytest.approx(p, abs=0.002)
    # LLaMA-2 on LiveQA, 0.56 to 0.57 of 246: at most 141 against 137 right, 2 * 0.5**4
    least = notes.least_p(run)
    assert least["LLaMA-2", "LiveQA"] == max(least.values()) == pytest.approx(0.125)


def test_a_tie_is_no_order_and_scores_that_print_apart_are_apart():
    assert numbers.apart(0.61 - 0.61, least=0) is None
    assert numbers.apart(0.63 - 0.62, least=0) is True
    assert numbers.apart([0.02, -0.02], least=0) is False


def test_gains_and_counts_by_hand(made):
    # 30 experts against six; 36 dollars for 2 hours; 2077 pairs, of which 500 are 24.1%
    assert computed(made, "mh-six").startswith("6 ") and computed(made, "mh-pay") == "18"
    assert computed(made, "mh-share", "within 2.5 points") == "24.1%"
    # Table 4's type totals 538, 535, 497, 507 against 519.25: 1244.75 / 519.25 = 2.40, 3 degrees
    assert computed(made, "mh-balanced", "all subsets") == "chi-squared p = 0.49"
    # GPT-4's gains of 7, 5 and 7 points: 6.33 on average, each -+1 by rounding
    told, *ends, _ = made["mh-gain-average"][claims.AS_WRITTEN]
    assert told == "6.3" and ends == pytest.approx([19 / 3 - 1, 19 / 3 + 1])


def test_shares_margins_and_gains_by_hand(made):
    assert computed(made, "mh-patients", "who asked them") == "936 of 2077 (45%)"  # 246 + 690
    assert computed(made, "mh-each-query", "each answer is hallucinated").startswith("1539 of")
    assert computed(made, "mh-labelled", "spans that the evaluation has") == "500 of 2077 (24%)"
    # experts and models on LiveQA: 0.57 and 0.52; on HealthQA 0.79 and 0.52
    told = [way[0] for way in made["mh-very-large"].values()]
    assert told[:2] == ["0.05 to 0.27", "0.02 to 0.24"] and told[2] == "0.14 to 0.18"
    # LLaMA-2 on LiveQA by the text of section 5: 0.51 after 0.50
    told = computed(made, "mh-much-better", "each gain, at least 0.05")
    assert told == "0.01 (LLaMA-2 on LiveQA) to 0.07"


@pytest.mark.parametrize(
    "id, table, row, column, value, holds",
    [
        ("mh-patients", "askers of 2.2", "HealthQA", "asked by consumers", 1, True),
        ("mh-each-query", "Table 4", "None-conflict", "Total", 0, True),
        ("mh-labelled", "text 4.1", "pairs with experts' spans", "count", 2077, True),
        ("mh-text-spans", "Table 7", "GPT-4", "LiveQA Mean", 84.34, False),
    ],
)
def test_another_printed_number_turns_the_reading(
    run, monkeypatch, id, table, row, column, value, holds
):
    changed = run.published(table)
    changed.loc[(changed["row"] == row) & (changed["column"] == column), "value"] = value
    printed = run.published
    monkeypatch.setattr(run, "published", lambda t: changed if t == table else printed(t))
    before = (benchmark.answers(run) | types.spans(run))[id]
    assert next(iter(before.values()))[3] is holds
    monkeypatch.undo()
    assert next(iter((benchmark.answers(run) | types.spans(run))[id].values()))[3] is not holds


def test_a_wider_gap_is_very_large_and_a_larger_gain_much(run, monkeypatch):
    printed = run.published

    def other(table):
        rows = printed(table)
        if table == "Table 6":  # experts right throughout, models at 0.4, laypeople at 0.9
            experts, laypeople = rows["row"] == "Experts", rows["row"] == "Laypeople"
            rows["value"] = 0.4 + 0.6 * experts + 0.5 * laypeople
        return rows

    monkeypatch.setattr(run, "published", other)
    for made in (detection.margin(run)["mh-very-large"], notes.much_better(run)):
        assert {way[3] for way in made.values()} == {True}


def test_replies_left_out_do_not_join_tables_6_and_8(run):
    """What data/claims says was tried: up to four of 246 left out leave the two 4 apart."""
    from bedside.papers.medhalu.implied import matrices

    n, eight = numbers.sizes(run)["LiveQA"], numbers.by_row(run, "Table 8")
    six, kinds = numbers.by_row(run, "Table 6")["LLaMA-2", "LiveQA"], list(data.TYPES.items())[1:]
    apart = []
    for lost in itertools.product(range(5), repeat=4):
        if sum(lost) > 4:
            continue
        none, types_ = n["none"] - lost[0], [n[t] - k for (t, _), k in zip(kinds, lost[1:])]
        whole, _ = matrices.confusions(sum(types_), none, six)
        ranges = [
            matrices.ends_by_negatives(
                matrices.confusions(k, none, eight[f"LLaMA-2, {name}", "LiveQA"])[0]
            )
            for k, (_, name) in zip(types_, kinds)
        ]
        shared = set.intersection(*map(set, ranges))
        apart += [matrices.off_by(tn, ranges, whole) for tn in shared if len(whole)]
    assert min(apart) == 4


def test_what_the_prompts_define_and_show(run):
    asked = {t: benchmark.named(run, t, "input-conflicting") for t in benchmark.PROMPTS}
    assert set.union(*asked.values()) == {"correct answer"}
    assert benchmark.named(run, "text 2.1", "input-conflicting") == {"question"}
    for table in benchmark.PROMPTS:
        assert "correct answer" not in benchmark.named(run, table, "slots")


def test_mails_and_telephone_numbers_are_personal():
    said = pd.Series(["write to a.b@c.org", "call 555-123-4567", "(555) 123 4567", "500-1000 mg"])
    assert said.str.contains(benchmark.PERSONAL).tolist() == [True, True, True, False]


def test_the_released_questions_hold_nothing_personal(run, monkeypatch):
    if not sources.here("medicationqa"):
        pytest.skip("MedicationQA isn't there: make data")
    monkeypatch.setattr(run, "profile", "public")
    lengths = tables.benchmark.length_table(run, data.printed_sets(run))
    made = benchmark.questions(run, lengths)
    assert made["mh-personal"]["MedicationQA"][0].startswith("0 of 690")
    for what in ("pairs", "mean", "deviation"):
        id = f"mh-medicationqa-{what}"
        assert claims.judged("medhalu", id, made[id])[0] == "holds"
