"""MedHalu's numbers on random worlds: scikit-learn, libraries and counting say the same."""

import itertools

import numpy as np
import pandas as pd
import pytest
from counting import NAN, counted
from sklearn import metrics

from bedside import stats
from bedside.papers.medhalu import detection, replies, scores, spans
from bedside.papers.medhalu.data import TYPES, units
from bedside.write.results import means
from cells import wanted
from medhalu_cells import DETECTION, NOTED, NOTES, cell, items_of, judged_of

METRICS = list(scores.METRICS.values())
ANSWER = "Cold air weakens lungs. Drinking milk (in excess) adds mucus, and antibiotics don't help."


@pytest.fixture
def run(run_of):
    made = run_of("medhalu", "02_detection")
    made.models = ["m", "other"]
    return made


def world(seed=0, evaluators=("m", "other")):
    """Random items of all types in two base sets, some with one question, and readings of them."""
    rng, n = np.random.default_rng(seed), 56
    items = items_of("fact", "none", *rng.choice(["fact", "input", "context", "none"], n - 2))
    items["dataset"] = np.where(rng.random(n) < 0.4, "LiveQA", "HealthQA")
    items["question"] = [f"Why {k // 2}?" for k in range(n)]
    marks = [[], ["Cold air"], ["milk does NOT help", "sugar feeds germs"], ["COLD  air causes"]]
    parts = []
    for who, repeat in itertools.product(evaluators, range(3)):
        said = rng.choice([0, 1, NAN], n, p=[0.4, 0.45, 0.15])
        said[[rng.integers(n), n - 1]] = NAN
        part = judged_of(items, said, who, repeat).assign(truncated=rng.random(n) < 0.2)
        part["spans"] = [marks[k] if y == y else [] for k, y in zip(rng.integers(0, 4, n), said)]
        parts.append(part)
    return items, pd.concat(parts, ignore_index=True)


def four(rows):
    """Accuracy and macro precision, recall, F1 by scikit-learn, of shares of yes."""
    h, y = (rows[k].to_numpy(float) for k in ("hallucinated", "yes"))
    truth, said, weight = np.r_[h, h], np.repeat([1, 0], len(h)), np.r_[y, 1 - y]
    made = metrics.precision_recall_fscore_support(
        truth, said, average="macro", zero_division=0, sample_weight=weight
    )
    return [metrics.accuracy_score(truth, said, sample_weight=weight), *made[:3]]


def own(rows):
    """The run's values by row and column."""
    return rows[rows["source"] == "run"].set_index(["row", "column"])


def test_tables_6_and_8_are_those_of_scikit_learn_by_base_set_and_type(run):
    items, judged = world()
    shares = scores.averaged(judged, items)
    assert shares.equals(cell("shares", run, judged, items))  # notebook 02 shows its way
    assert (shares["unit"] == shares["item"].map(units(items))).all()
    six, eight = (own(cell(name, run, judged, items)) for name in ("six", "eight"))
    mean = judged.groupby(["evaluator", "item"])["yes"].mean().reset_index()
    mean = mean.merge(items, on="item")
    for (data, who), part in pd.concat([mean, mean.assign(dataset="all")]).groupby(
        ["dataset", "evaluator"]
    ):
        got, lost = part.dropna(subset="yes"), part["yes"].isna().sum()
        rows = six.loc[f"{data}: {who}"].loc[METRICS]
        assert rows["value"].tolist() == pytest.approx(four(got))
        assert set(zip(rows["n"], rows["unscored"])) == {(len(got), lost)}
        right = part["hallucinated"].astype(float)
        for end, filled in (("worst", 1 - right), ("best", right)) if lost else ():
            assert rows[end].tolist() == pytest.approx(four(part.fillna({"yes": filled})))
        for kind in [*TYPES][1:] if data != "all" else ():
            some = got[got["type"].isin([kind, "none"])]
            accuracy, *_, f1 = four(some)
            f1 = f1 if some["hallucinated"].nunique() == 2 else NAN  # nothing to average otherwise
            at = eight.loc[f"{data}: {who}, {TYPES[kind]}"]["value"].tolist()
            assert at == pytest.approx([accuracy, f1], nan_ok=True)
    alike = scores.scores(scores.averaged(judged, items.assign(question="one")))
    assert alike["low"].isna().all()  # intervals are over questions


def test_macro_scores_rates_and_guessers_are_those_of_scikit_learn():
    for of in (stats.macro, wanted(DETECTION, "macro")):  # notebook 02 has the formulas in the open
        got = of([[3, 1, 2, 4], [3, 0, 1, 0], [0, 3, 0, 1]])
        known = pd.DataFrame({"hallucinated": [1] * 3 + [0] + [1] * 2 + [0] * 4})
        assert got[0].tolist() == pytest.approx(four(known.assign(yes=[1] * 4 + [0] * 6)))
        assert got[1:, 0].tolist() == [0.75, 0.25] and np.isnan(got[1:, 1:]).all()
    for share in (0.2, 0.6, 0.75):
        items = pd.DataFrame({"hallucinated": np.arange(100) < 100 * share})
        says = items.assign(yes=np.where(items["hallucinated"], 0.8, 0.3))
        accuracy, _, recall, _ = four(says)
        assert scores.rates(accuracy, recall, share) == pytest.approx((0.8, 0.7))
        made = [four(items.assign(yes=float(yes))) for yes in (1, 0, 0.5, share)]
        assert np.array([*scores.blind(share).values()]) == pytest.approx(np.array(made))


def test_rates_and_what_a_note_changes_by_counting(run):
    items, judged = world()
    noted = [world(k, ["m" + n])[1] for k, n in enumerate(NOTES, 10)]
    every = pd.concat([judged, *noted], ignore_index=True)
    shares = scores.averaged(every, items)
    wide = every.groupby(["item", "evaluator"])["yes"].mean().unstack()
    true = items.set_index("item")["hallucinated"].loc[wide.index]
    found = cell("plane", run, every, items)
    of_gpt4 = found.set_index(["row", "column"])["value"]["HealthQA: GPT-4, Table 6"]
    printed = {"specificity, %": 87.2, "sensitivity, %": 46.8}  # accuracy 0.57, macro recall 0.67
    assert of_gpt4.to_dict() == pytest.approx(printed, abs=0.1)
    for plane in (found, cell("plane", run, every, items, NOTED, shares=shares)):
        for who, yes in wide.items():
            at = own(plane).loc[f"this run, all subsets: {who}", "value"]
            rates = {"sensitivity, %": 100 * yes[true].mean()}
            rates["specificity, %"] = 100 - 100 * yes[~true].mean()
            assert at.to_dict() == pytest.approx(rates)
    run.models = ["m"]
    changes = cell("changes", run, every, items, NOTED).set_index(["row", "column"])
    ten = own(cell("ours", run, every, items, NOTED))
    for note in NOTES:
        then = wide["m" + note]
        more = (then - wide["m"]).dropna()
        for what, part in {
            "right, all answers": more.where(true, -more),
            "yes, hallucinated answers": more[true],
            "yes, the other answers": more[~true],
        }.items():
            row = changes.loc[(f"m, {detection.NOTES[note]}: {what}", "Δ share")]
            assert row["value"] == pytest.approx(part.mean())
            assert not (part.mean() < row["low"] or part.mean() > row["high"])
        told = pd.DataFrame({"hallucinated": true, "yes": then}).dropna()
        assert ten.loc[f"all: m{note}"]["value"][METRICS].tolist() == pytest.approx(four(told))


def test_repeats_and_replies_by_counting():
    items, judged = world()
    h = items.set_index("item")["hallucinated"]
    spread = scores.repeats_differ(judged, items).set_index(["row", "column"])
    looks = means(replies.like(judged, items), {"hit": ""}, row="{evaluator}", column="{what}")
    for who, mine in judged.assign(hallucinated=judged["item"].map(h)).groupby("evaluator"):
        read = mine.dropna(subset="yes")
        f1 = [four(part)[3] for _, part in read.groupby("repeat")]
        wide = mine.pivot(index="item", columns="repeat", values="yes")
        alike = 100 * (wide.dropna().nunique(axis=1) == 1).mean()
        assert spread.loc[who, "value"].tolist() == pytest.approx([min(f1), max(f1), alike])
        assert spread.loc[who, "n"].iloc[0] == wide.notna().any(axis=1).sum()
        some, yes = read["spans"].map(len) > 0, read["yes"] == 1
        where = [spans.locate(s, items["answer"][0]) for s in read["spans"].sum()]
        hits = {
            "can't be read": mine["yes"].isna(),
            "cut off at the limit": mine["truncated"],
            "right where not cut off": (yes == read["hallucinated"])[~read["truncated"]],
            "yes": yes,
            "yes without a span": ~some[yes],
            "no with spans": some[~yes],
            "spans: exact": [bool(at) and at[2] == "exact" for at in where],
            "spans: not in the answer": [at is None for at in where],
        }
        counted(looks, {(who, f"{k}, %"): 100 * np.array(v, float) for k, v in hits.items()})
    one = scores.repeats_differ(judged[judged["repeat"] == 0].dropna(), items)["value"].to_numpy()
    assert one[0] == one[1] and one[2] == 100


def test_agreement_of_raters_is_that_of_libraries():
    rng, items = np.random.default_rng(2), items_of(*["fact", "none", "input"] * 8)
    said = rng.choice([0, 1, NAN], (3, 24), p=[0.45, 0.45, 0.1])
    people = pd.concat([judged_of(items, s, "p", k) for k, s in enumerate(said)])
    found = scores.agreement(people.assign(group="expert"), items).set_index("column")

    def kappas(pairs):
        known = [np.array(pair)[:, ~np.isnan(pair).any(axis=0)] for pair in pairs]
        return np.mean([metrics.cohen_kappa_score(*pair) for pair in known]), len(known)

    truth = items["hallucinated"].to_numpy(float)
    for name, pairs in {
        "kappa with the labels, mean of raters": [(s, truth) for s in said],
        "kappa of two raters, mean of pairs": [*itertools.combinations(said, 2)],
    }.items():
        assert found.loc[name, ["value", "n"]].tolist() == pytest.approx(kappas(pairs))
    alpha = stats.krippendorff_alpha(said, level="nominal")
    assert found.loc["Krippendorff's alpha", "value"] == pytest.approx(alpha.value)


# ---- spans


def edits(a, b):
    """Edit distance, by the textbook's table."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def test_spans_by_brute_force():
    words, strange = [w.strip(".,()") for w in ANSWER.split()], ["sugar feeds germs"]
    right, found = [range(0, 3), range(9, 13)], [range(2, 4), range(8, 11), range(10, 12)]
    texts = [[" ".join(words[k] for k in span) for span in each] for each in (right, found)]
    tokens = [{k for span in each for k in span} for each in (right, found)]
    tokens = [{*t, "t"} if 12 in t else t for t in tokens]  # don't is two words
    hits, size, all_right = len(tokens[0] & tokens[1]), len(tokens[1]) + 3, len(tokens[0])
    made = spans.token_scores(ANSWER, texts[0], texts[1] + strange)
    expected = [hits / size, hits / all_right, 2 * hits / (size + all_right)]
    assert [*made.values()] == pytest.approx(expected)
    near = [min(edits(a, b) for b in texts[1]) for a in texts[0]]
    assert spans.distances(*texts) == near
    assert {*spans.token_scores(ANSWER, texts[0], []).values()} == {0}
    assert np.isnan(spans.distances(texts[0], [])).all()


def test_table_7_by_brute_force(run):
    items, judged = world()
    right = dict.fromkeys(items["item"][::2], ["Cold air", "at all"])
    seven = cell("seven", run, judged, items, right=right).reset_index(drop=True)
    place, means_of = items.set_index("item")["dataset"], {}
    asked = judged[judged["item"].isin(right)]
    for (data, who, _), part in asked.groupby([asked["item"].map(place), "evaluator", "item"]):
        read, mine = part.dropna(subset="yes")["spans"], means_of.setdefault((data, who), {})
        for span in right["i0"]:
            d = [min([edits(span, s) for s in found], default=NAN) for found in read]
            filled = [len(span) if x != x else x for x in d]
            mine.setdefault("mean edit distance", []).append(pd.Series(d, dtype=float).mean())
            name = "mean edit distance, nothing detected counted as no text"
            mine.setdefault(name, []).append(np.mean(filled) if filled else NAN)
        f1 = [spans.token_scores(items["answer"][0], right["i0"], s)["token F1"] for s in read]
        mine.setdefault("token F1", []).append(np.mean(f1) if f1 else NAN)
    for (data, who), mine in means_of.items():
        counted(seven, {(f"{data}: {who}", column): values for column, values in mine.items()})
        median = own(seven).loc[(f"{data}: {who}", "median edit distance"), "value"]
        assert median == pytest.approx(np.nanmedian(mine["mean edit distance"]))
    whole = own(seven[seven["row"].str.contains("whole")])["value"].unstack()
    assert (whole["token recall"] == 1).all() and (whole["token precision"] < 0.5).all()
    people = pd.concat([judged, judged.assign(evaluator="people: expert", source="people")])
    seven = cell("seven", run, people, items.assign(spans=None), right=right)
    assert not seven["row"].str.contains("people: expert").any()  # against their own marks
