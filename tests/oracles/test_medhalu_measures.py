"""MedHalu's numbers on random worlds: scikit-learn, libraries and counting say the same."""

import functools
import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

import medhalu_cells
from bedside import stats
from bedside.papers.medhalu import detection, scores, spans
from bedside.papers.medhalu.data import TYPES, units
from medhalu_items import items_of, judged_of

NAN = float("nan")
ANSWER = "Cold air weakens lungs. Drinking milk (in excess) adds mucus, and antibiotics don't help."


@pytest.fixture
def run(run_of):
    made = run_of("medhalu", "02_detection")
    made.models = ["m", "other"]
    return made


def world(seed=0, evaluators=("m", "other")):
    """Random items of all types in two base sets, some with one question, and readings of them."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(50, 60))
    items = items_of("fact", "none", *rng.choice(["fact", "input", "context", "none"], n - 2))
    items["dataset"] = np.where(rng.random(n) < 0.4, "LiveQA", "HealthQA")
    items["question"] = [f"Why {k // 2}?" for k in range(n)]
    marks = [[], ["Cold air"], ["milk does NOT help", "sugar feeds germs"], ["COLD  air causes"]]
    parts = []
    for who, repeat in itertools.product(evaluators, range(3)):
        said = rng.choice([0, 1, NAN], n, p=[0.4, 0.45, 0.15])
        said[rng.integers(n)] = NAN
        part = judged_of(items, np.where(np.arange(n) == n - 1, NAN, said), who, repeat)
        part["spans"] = [marks[k] if y == y else [] for k, y in zip(rng.integers(0, 4, n), said)]
        part["truncated"] = rng.random(n) < 0.2
        parts.append(part)
    return items, pd.concat(parts, ignore_index=True)


def mean_yes(judged, items):
    """Share of yes of the replies that could be read: {evaluator: (labels, shares)} by item."""
    truth = items.set_index("item")["hallucinated"]
    found = {}
    for who, part in judged.groupby("evaluator"):
        share = part.groupby("item")["yes"].mean()
        found[who] = truth[share.index], share
    return found


def four(hallucinated, share):
    """Accuracy and macro precision, recall, F1 by scikit-learn, of shares of yes."""
    h, y = np.asarray(hallucinated, float), np.asarray(share, float)
    truth, said, weight = np.r_[h, h], np.r_[np.ones(len(h)), np.zeros(len(h))], np.r_[y, 1 - y]
    made = metrics.precision_recall_fscore_support(
        truth, said, average="macro", zero_division=0, sample_weight=weight
    )
    return [metrics.accuracy_score(truth, said, sample_weight=weight), *made[:3]]


def own(rows):
    """The run's rows by row and column."""
    return rows[rows["source"] == "run"].set_index(["row", "column"])


def test_tables_6_and_8_are_those_of_scikit_learn_by_base_set_and_type(run):
    items, judged = world(0)
    shares = scores.averaged(judged, items)
    assert shares.equals(medhalu_cells.shares(run, judged, items))  # notebook 02 shows its way
    assert (shares["unit"] == shares["item"].map(units(items))).all()
    six = own(medhalu_cells.six(run, judged, items))
    eight = own(medhalu_cells.eight(run, judged, items))
    for data in ("HealthQA", "LiveQA", "all"):
        part = items[items["dataset"].eq(data) | (data == "all")]
        for who, (h, share) in mean_yes(judged[judged["item"].isin(part["item"])], part).items():
            known = share.notna()
            rows = six.loc[f"{data}: {who}"].loc[list(scores.METRICS.values())]
            assert rows["value"].tolist() == pytest.approx(four(h[known], share[known]))
            assert set(zip(rows["n"], rows["unscored"])) == {(known.sum(), (~known).sum())}
            for column, right in (("worst", ~h), ("best", h)) if (~known).any() else ():
                filled = share.fillna(right.astype(float))
                assert rows[column].tolist() == pytest.approx(four(h, filled))
            for kind in [t for t in TYPES if t != "none"] if data != "all" else []:
                types = part.set_index("item").loc[share.index, "type"]
                some = known & types.isin([kind, "none"])
                at = eight.loc[f"{data}: {who}, {TYPES[kind]}"]["value"]
                accuracy, _, _, f1 = four(h[some], share[some])
                assert at["accuracy"] == pytest.approx(accuracy)
                both = h[some].nunique() == 2  # there is nothing to average otherwise
                assert at["macro F1"] == pytest.approx(f1 if both else NAN, nan_ok=True)
        q = part["hallucinated"].mean()
        coins = {"always yes": 1, "always no": 0, "a fair coin": 0.5}
        coins["a coin of the share of hallucinations"] = q
        for name, yes in coins.items() if data != "all" else ():
            blind = six.loc[f"{data}: {name}"]["value"].tolist()
            assert blind == pytest.approx(four(part["hallucinated"], [yes] * len(part)))
    for of in (stats.macro, medhalu_cells.macro()):  # notebook 02 has the formulas in the open
        got = of([[3, 1, 2, 4], [3, 0, 1, 0], [0, 3, 0, 1]])
        labels, said = [1] * 3 + [0] + [1] * 2 + [0] * 4, [1] * 4 + [0] * 6
        assert got[0].tolist() == pytest.approx(four(labels, said))
        assert got[1:, 0].tolist() == [0.75, 0.25] and np.isnan(got[1:, 1:]).all()
    for share in (0.2, 0.6, 0.75):
        h = np.arange(1000) < 1000 * share
        accuracy, _, recall, _ = four(h, np.where(h, 0.8, 0.3))
        assert scores.rates(accuracy, recall, share) == pytest.approx((0.8, 0.7))


def test_rates_and_what_a_note_changes_by_counting(run):
    items, judged = world()
    noted = [world(k, ["m" + n])[1] for k, n in enumerate(medhalu_cells.NOTES, 10)]
    every = pd.concat([judged, *noted], ignore_index=True)
    every = every[every["item"].isin(items["item"])].reset_index(drop=True)
    means = mean_yes(every, items)
    planes = (
        own(medhalu_cells.plane(run, every, items)),
        own(medhalu_cells.both_planes(run, every, items)),
    )
    printed = medhalu_cells.plane(run, every, items).set_index(["row", "column"])["value"]
    of_gpt4 = printed["HealthQA: GPT-4, Table 6"]  # accuracy 0.57, macro recall 0.67
    rates = {"specificity, %": 87.2, "sensitivity, %": 46.8}
    assert of_gpt4.to_dict() == pytest.approx(rates, abs=0.1)
    for who, (h, share) in means.items():
        expected = {"sensitivity, %": share[h].mean(), "specificity, %": 1 - share[~h].mean()}
        for plane, (rate, value) in itertools.product(planes, expected.items()):
            row = plane.loc[(f"this run, all subsets: {who}", rate)]
            assert row["value"] == pytest.approx(100 * value)
            assert row["n"] + row["unscored"] >= 1
    run.models = ["m"]
    changes = medhalu_cells.changes(run, every, items).set_index(["row", "column"])
    ten = own(medhalu_cells.ten(run, every, items))
    h, plain = means["m"]
    for note in medhalu_cells.NOTES:
        label, then = detection.NOTES[note], means["m" + note][1].reindex(plain.index)
        more = (then - plain).dropna()
        true = h[more.index]
        expected = {
            "right, all answers": more.where(true, -more).mean(),
            "yes, hallucinated answers": more[true].mean(),
            "yes, the other answers": more[~true].mean(),
        }
        for what, value in expected.items():
            row = changes.loc[(f"m, {label}: {what}", "Δ share")]
            assert row["value"] == pytest.approx(value)
            assert not (value < row["low"] or value > row["high"])
        known = then.notna()
        made = ten.loc[f"all: m{note}"]["value"][list(scores.METRICS.values())]
        assert made.tolist() == pytest.approx(four(h[known], then[known]))


def test_a_notes_p_is_that_of_a_sign_flip_test_corrected_by_holm(run):
    items, run.models = items_of(*["fact"] * 12, *["none"] * 4), ["m"]
    always = [judged_of(items, [1] * 16, "m" + n) for n in medhalu_cells.NOTES]
    every = pd.concat([judged_of(items, [0] * 16), *always])
    rows = medhalu_cells.changes(run, every, items)
    p = rows[rows["column"].str.startswith("p of")].set_index("row")["value"]
    by_class = {"hallucinated": (2 / 2**12, 9), "the other": (2 / 2**4, 3)}  # of 9 tests
    for (name, (exact, times)), note in itertools.product(by_class.items(), ("topic", "same")):
        mine = p[p.index.str.contains(note) & p.index.str.contains(f"yes, {name}")]
        assert len(mine) == 1 and exact <= mine.iloc[0] <= min(1, times * exact * 1.5)
    only = pd.concat([every[every["evaluator"] == "m"], always[0][:12]])  # one class has no note
    rows = medhalu_cells.changes(run, only, items)
    assert rows["row"].nunique() == 2 and rows["value"].notna().all()


def test_intervals_are_over_questions_and_nothing_is_nothing():
    items, judged = world(1, ["m"])
    asked = items, items.assign(question="one")
    each, one = (scores.scores(scores.averaged(judged, i)) for i in asked)
    assert each["low"].notna().all() and one["low"].isna().all()
    lost = scores.averaged(judged.assign(yes=NAN), items)
    none = scores.scores(lost)
    assert none["value"].isna().all() and set(none["n"]) == {0}
    assert none[["worst", "best"]].iloc[0].tolist() == [0, 1]
    assert scores.scores(lost[:0]).empty
    # replies that were repeated are more replies, but not more questions
    once = judged[judged["repeat"] == 0]
    thrice = pd.concat([once.assign(repeat=k) for k in range(3)])
    both = (medhalu_cells.replies(rows, items) for rows in (once, thrice))
    few, many = (rows.set_index("column").loc["yes, %"] for rows in both)
    assert few["value"] == many["value"] and 3 * few["n"] == many["n"]
    assert many["low"] <= few["low"] and many["high"] >= few["high"]


def test_repeats_and_replies_by_counting():
    items, judged = world()
    h = items.set_index("item")["hallucinated"]
    spread = scores.repeats_differ(judged, items).set_index(["row", "column"])
    replies = medhalu_cells.replies(judged, items).set_index(["row", "column"])
    for who, mine in judged.groupby("evaluator"):
        read = mine[mine["yes"].notna()]
        f1 = [four(h[part["item"]], part["yes"])[3] for _, part in read.groupby("repeat")]
        by = [part["yes"].tolist() for _, part in mine.groupby("item")]
        whole = [y for y in by if not np.isnan(y).any()]
        alike = 100 * np.mean([len(set(y)) == 1 for y in whole])
        found = spread.loc[who]
        assert found["value"].tolist() == pytest.approx([min(f1), max(f1), alike])
        assert found["n"].iloc[0] == sum(not np.isnan(y).all() for y in by)
        some, yes = read["spans"].map(bool), read["yes"] == 1
        uncut = read[~read["truncated"]]
        kinds = [spans.locate(s, items["answer"][0]) for each in read["spans"] for s in each]
        expected = {
            "can't be read, %": mine["yes"].isna().mean(),
            "cut off at the limit, %": mine["truncated"].mean(),
            "right where not cut off, %": ((uncut["yes"] == 1) == h[uncut["item"]].values).mean(),
            "yes, %": yes.mean(),
            "yes without a span, %": (~some[yes]).mean(),
            "no with spans, %": some[~yes].mean(),
            "spans: exact, %": np.mean([bool(k) and k[2] == "exact" for k in kinds]),
            "spans: not in the answer, %": np.mean([k is None for k in kinds]),
        }
        for column, value in expected.items():
            assert replies.loc[(who, column), "value"] == pytest.approx(100 * value), column
        one = own(scores.repeats_differ(mine[mine["repeat"] == 0].dropna(), items))
        assert one["value"].iloc[0] == one["value"].iloc[1] and one["value"].iloc[2] == 100


def test_agreement_is_that_of_a_library_and_of_counting():
    rng = np.random.default_rng(2)
    items = items_of(*["fact", "none", "input"] * 8)
    people = []
    for k in range(3):
        said = rng.choice([0, 1, NAN], 24, p=[0.45, 0.45, 0.1])
        people.append(judged_of(items, said, "p", k).assign(group="expert"))
    people = pd.concat(people)
    found = scores.agreement(people, items).set_index("column")
    wide = people.pivot(index="item", columns="repeat", values="yes").loc[items["item"]]
    truth = items["hallucinated"].astype(float).to_numpy()

    def kappa(a, b):
        both = ~np.isnan(a) & ~np.isnan(b)
        return metrics.cohen_kappa_score(a[both], b[both])

    each = [wide[k].to_numpy() for k in wide]
    pairs = [kappa(a, b) for a, b in itertools.combinations(each, 2)]
    mean = found.loc["kappa with the labels, mean of raters", ["value", "n"]].tolist()
    assert mean == pytest.approx([np.mean([kappa(a, truth) for a in each]), 3])
    mean = found.loc["kappa of two raters, mean of pairs", ["value", "n"]].tolist()
    assert mean == pytest.approx([np.mean(pairs), 3])
    rated = [[y for y in row if y == y] for row in wide.to_numpy()]  # nominal alpha, pair by pair
    rated = [row for row in rated if len(row) > 1]
    every, off = [y for row in rated for y in row], 0.0
    for row in rated:
        off += sum(a != b for a, b in itertools.permutations(row, 2)) / (len(row) - 1)
    total = sum(a != b for a, b in itertools.permutations(every, 2)) / (len(every) - 1)
    alpha = found.loc["Krippendorff's alpha"]
    assert alpha["value"] == pytest.approx(1 - off / total) and alpha["low"] < alpha["high"]


@functools.cache
def edits(a, b):
    """Edit distance, by the textbook's table."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def test_spans_by_brute_force():
    rng = np.random.default_rng(0)
    words = [w.strip(".,()") for w in ANSWER.split()]

    def some():
        i = int(rng.integers(0, 13))
        return list(range(i, min(14, i + int(rng.integers(2, 5)))))

    right, found = [some() for _ in range(2)], [some() for _ in range(3)]
    texts = [[" ".join(words[k] for k in span) for span in each] for each in (right, found)]
    strange = ["sugar feeds germs"]
    made = spans.token_scores(ANSWER, texts[0], texts[1] + strange)
    tokens = [set(sum(each, [])) for each in (right, found)]
    tokens = [{*t, "t"} if 12 in t else t for t in tokens]  # don't is two words
    hits, size = len(tokens[0] & tokens[1]), len(tokens[1]) + 3 * len(strange)
    expected = [hits / size, hits / len(tokens[0]), 2 * hits / (size + len(tokens[0]))]
    assert list(made.values()) == pytest.approx(expected)
    near = [min(edits(a, b) for b in texts[1]) for a in texts[0]]
    assert spans.distances(*texts) == near
    assert set(spans.token_scores(ANSWER, texts[0], []).values()) == {0}
    assert all(d != d for d in spans.distances(texts[0], []))


def test_table_7_by_brute_force(run):
    items, judged = world()
    right = {i: ["Cold air", "at all"] for i in items["item"][::2]}
    read = judged[judged["yes"].notna() & judged["item"].isin(right)]
    assert len(spans.compared(judged, items, right).dropna(subset="or_empty")) == 2 * len(read)
    made = own(medhalu_cells.seven(run, judged, items, right))
    place = items.set_index("item")["dataset"]
    for (data, who), mine in read.groupby([read["item"].map(place), "evaluator"]):
        each = {"mean": [], "empty": [], "f1": []}
        for item, part in mine.groupby("item"):
            for span in right[item]:
                d = [min([edits(span, s) for s in f], default=NAN) for f in part["spans"]]
                known = [x for x in d if x == x]
                each["mean"].append(np.mean(known) if known else NAN)
                each["empty"].append(np.mean([len(span) if x != x else x for x in d]))
            f = [spans.token_scores(items["answer"][0], right[item], s) for s in part["spans"]]
            each["f1"].append(np.mean([x["token F1"] for x in f]))
        at = made.loc[f"{data}: {who}"]
        known = [x for x in each["mean"] if x == x]
        if known:
            mean = at.loc["mean edit distance"]
            assert mean["value"] == pytest.approx(np.mean(known))
            labelled = 2 * place[list(right)].eq(data).sum()  # read or not
            assert (mean["n"], mean["unscored"]) == (len(known), labelled - len(known))
            assert at.loc["median edit distance", "value"] == pytest.approx(np.median(known))
        empty = at.loc["mean edit distance, nothing detected counted as no text"]
        assert empty["value"] == pytest.approx(np.mean(each["empty"]))
        assert at.loc["token F1", ["value", "n"]].tolist() == pytest.approx(
            [np.mean(each["f1"]), len(each["f1"])]
        )
    whole = made.loc[[row for row in made.index if "whole" in row[0]], "value"].unstack()
    assert (whole["token recall"] == 1).all() and (whole["token precision"] < 0.5).all()
    people = pd.concat([judged, judged.assign(evaluator="people: expert", source="people")])
    seven = medhalu_cells.seven(run, people, items.assign(spans=None), right)
    assert not seven["row"].str.contains("people: expert").any()  # against their own marks
    lost = medhalu_cells.seven(run, judged.assign(status="unparsed"), items, right)
    lost = lost[~lost["row"].str.contains("whole")].groupby("column")[["n", "unscored"]].sum()
    assert set(lost["n"]) == {0} and lost.at["mean edit distance", "unscored"] == 4 * len(right)
