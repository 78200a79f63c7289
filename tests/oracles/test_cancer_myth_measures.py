"""Cancer-Myth's measures on random worlds, against well-kept libraries and plain counting."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, norm, t
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.proportion import proportion_confint

from bedside import stats
from bedside.judging.trust_cards import trust_card
from bedside.papers.cancer_myth import data, generation, pipeline, released, study, systems
from bedside.papers.cancer_myth.scores import CORRECTED, corrected, scores
from bedside.papers.cancer_myth.scores import pairs as pair_rows
from bedside.papers.cancer_myth.v2 import scores as cured
from bedside.read.surroundings import here
from bedside.run import Run
from bedside.write.tables import paired
from cells import wanted

NAN = float("nan")
SEEDS = range(3)
KINDS = list(data.CATEGORIES.values())
MODELS = list(systems.SYSTEMS.values())
WRITERS = ["Gemini-1.5-Pro", "GPT-4o", "Claude-3.5-Sonnet", "Manual"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setattr(here, "figures", str(tmp_path))
    return Run("cancer_myth", "03_evaluation", profile="sample")


def world(seed, models=MODELS, n=30, alike=2):
    """Grades by several models of the same questions, some without one, some answers cut.

    `alike` questions rest on one myth.
    """
    rng = np.random.default_rng(seed)
    items = pd.DataFrame({"item": [f"q{k:02}" for k in range(n)]})
    items["unit"] = [f"m{k // alike}" for k in range(n)]
    items["category"], items["generator"] = rng.choice(KINDS, n), rng.choice(WRITERS, n)
    frame = items.merge(pd.DataFrame({"model": models}), how="cross")
    size = len(frame)
    grade = rng.choice([1, 0, -1, NAN], size, p=[0.3, 0.3, 0.3, 0.1])
    frame["status"] = np.where(np.isnan(grade), "unparsed", "graded")
    frame["value"] = pd.Series(grade, dtype=object).where(~np.isnan(grade), None)
    frame["truncated"] = rng.random(size) < 0.3
    frame["answer"] = [" ".join(["word"] * k) for k in rng.integers(1, 9, size)]
    frame["reply_status"] = rng.choice(["", "blank"], size, p=[0.8, 0.2])
    return frame


def counted(part):
    """PCS, PCR in percent, graded and ungraded answers, and the ends of both means."""
    grades = [float(v) for v in part["value"] if v is not None]
    lost, n = len(part) - len(grades), len(part)
    right = 100 * sum(g == 1 for g in grades)
    mean = [total / len(grades) if grades else NAN for total in (sum(grades), right)]
    return (
        mean,
        len(grades),
        lost,
        [
            ((sum(grades) - lost) / n, (sum(grades) + lost) / n),
            (right / n, (right + 100 * lost) / n),
        ],
    )


def limits(hits, n):
    """A share's interval in percent: Wilson's, with t for z; none of fewer than ten."""
    if n < 10:
        return [NAN, NAN]
    level = 2 * norm.sf(t.ppf(0.975, n - 1))
    return [100 * x for x in proportion_confint(hits, n, level, "wilson")]


@pytest.mark.parametrize("seed", SEEDS)
def test_pcs_and_pcr_by_counting(seed):
    graded = world(seed, MODELS[:3])
    for by in ([], ["category"], ["generator"]):
        made = scores(graded, by).set_index(["model", *by, "metric"])
        groups = list(graded.groupby(["model", *by]))
        assert len(made) == 2 * len(groups)
        for key, part in groups:
            means, n, lost, ends = counted(part)
            for metric, value, (least, most) in zip(("PCS", "PCR"), means, ends):
                r = made.loc[(*key, metric)]
                expected = (value, n, lost, *((least, most) if lost else (NAN, NAN)))
                found = r[["value", "n", "unscored", "worst", "best"]].tolist()
                assert found == pytest.approx(expected, nan_ok=True), (key, metric)


def test_intervals_are_over_myths():
    apart = scores(world(0, alike=1)).set_index(["model", "metric"])
    for (_, metric), r in apart.iterrows():
        assert r["low"] < r["value"] < r["high"]
        if metric == "PCR":
            hits = round(r["value"] * r["n"] / 100)
            assert [r["low"], r["high"]] == pytest.approx(limits(hits, int(r["n"])))
    graded = world(0, ["m"], n=60, alike=3)  # three questions of each myth share their grade
    graded = graded.assign(status="graded", value=graded.groupby("unit")["item"].ngroup() % 3 - 1)
    rng = np.random.default_rng(0)
    drawn = [np.mean(rng.choice([k % 3 - 1 for k in range(20)], 20)) for _ in range(4000)]
    made = scores(graded).set_index("metric")
    expected = np.quantile(drawn, [0.025, 0.975])
    assert made.loc["PCS", ["low", "high"]].tolist() == pytest.approx(expected, abs=0.06)
    narrow = limits(20, 60)  # questions taken for independent
    assert made.loc["PCR", "low"] < narrow[0] and made.loc["PCR", "high"] > narrow[1]
    few = scores(graded.head(27))  # nine myths
    assert few["value"].notna().all() and few[["low", "high"]].isna().all(axis=None)


def mcnemar(more, less):
    """p of an exact sign test; 1 without a discordant pair."""
    return binomtest(int(more), int(more + less)).pvalue if more + less else 1


@pytest.mark.parametrize("seed", SEEDS)
def test_pairs_are_compared_on_shared_questions(run, seed):
    graded = world(seed, ["a", "b", "c"], alike=1)
    made = paired(graded, run).set_index("row")
    wide = graded.pivot(index="item", columns="model", values="value").astype(float)
    for a, b in itertools.combinations("abc", 2):
        both, r = wide[[a, b]].dropna(), made.loc[f"{a} vs {b}"]
        x, y = (both[m] == 1 for m in (a, b))
        p = mcnemar((x & ~y).sum(), (y & ~x).sum())
        assert (r["n"], r["test"]) == (len(both), "McNemar")
        assert r["difference"] == pytest.approx(100 * (x.mean() - y.mean()))
        assert r["p"] == pytest.approx(p)
        assert r["means"] == pytest.approx((both[a] - both[b]).mean())


def holm(p):
    """Holm's step-down correction by its definition."""
    order, made, worst = np.argsort(p), np.empty(len(p)), 0
    for k, at in enumerate(order):
        worst = max(worst, min(1, (len(p) - k) * p[at]))
        made[at] = worst
    return made


def test_holm_corrects_over_all_p_of_a_table(run):
    made = paired(world(3, ["a", "b", "c"], alike=1), run)
    rows = pair_rows(made).set_index(["row", "column"])["value"]
    plain = np.r_[made["p"], made["permutation"]]
    said = [rows[row, f"{kind} p, Holm"] for kind in ("PCR", "PCS") for row in made["row"]]
    assert said == pytest.approx(holm(plain))
    assert rows["a vs b", "PCR difference, points"] == made["difference"][0]


def card_of(sensitivity, specificity):
    """A trust card with these rates, of a thousand labels each."""
    rates = {"sensitivity": sensitivity, "specificity": specificity}
    return {k: stats.wilson(round(1000 * v), 1000)._asdict() for k, v in rates.items()}


@pytest.mark.parametrize("seed", SEEDS)
def test_rates_are_corrected_for_the_judges_errors(run, seed, monkeypatch):
    """Rogan and Gladen: (rate + specificity - 1) / (sensitivity + specificity - 1), in 0 to 1."""
    graded = world(seed, ["a", "b"])
    cards = {"good": card_of(0.9, 0.8), "none": {"n": 3, "unscored": 3}}
    monkeypatch.setattr(run, "card", lambda judge, task: cards[judge])
    rates = scores(graded).query("metric == 'PCR'")
    made = {j: corrected(rates, run, "x", judge=j).set_index(["row", "column"]) for j in cards}
    for model, part in graded.groupby("model"):
        (_, rate), n, lost, _ = counted(part)
        fixed = made["good"].loc[(model, f"PCR {CORRECTED}")]
        expected = min(max((rate / 100 + 0.8 - 1) / 0.7, 0), 1)
        assert fixed[["value", "n", "unscored"]].tolist() == pytest.approx(
            [100 * expected, n, lost]
        )
        unknown = made["none"].loc[(model, f"PCR {CORRECTED}")]
        assert np.isnan(unknown["value"]) and unknown["n"] == 0


def health_of(graded, posed):
    """What became of the answers to some questions, and to others, as the notebook has it."""
    given = {"graded": graded[graded["item"].isin(posed)], "answered": graded}
    posed = pd.DataFrame({"item": posed})
    made = wanted("cancer_myth/03_evaluation", "health", posed=posed, **given)
    return made.set_index(["row", "column"])


@pytest.mark.parametrize("seed", SEEDS)
def test_what_became_of_the_answers(seed):
    graded = world(seed, ["a", "b"])
    first = graded["item"].unique()[:20]
    made = health_of(graded, first)
    for posed, model in itertools.product((True, False), "ab"):
        part = graded[(graded["item"].isin(first) == posed) & (graded["model"] == model)]
        came, uncut = part[part["reply_status"] == ""], part[~part["truncated"]]
        (pcs, pcr), n, lost, _ = counted(uncut)
        expected = {
            "mean words": (np.mean([len(a.split()) for a in came["answer"]]), len(came)),
            "cut off at the limit, %": (100 * came["truncated"].mean(), len(came)),
            "no answer, %": (100 - 100 * len(came) / len(part), len(part)),
            "no answer: blank, %": (100 - 100 * len(came) / len(part), len(part)),
        }
        if posed:
            expected |= {"PCR of the uncut": (pcr, n), "PCS of the uncut": (pcs, n)}
        row = made.loc[f"{model}, {'' if posed else 'no '}false presupposition"]
        for column, pair in expected.items():
            assert row.loc[column, ["value", "n"]].tolist() == pytest.approx(pair), column
        assert not posed or row.loc["PCS of the uncut", "unscored"] == lost
    whole = health_of(graded.assign(truncated=False), first)
    assert "PCR of the uncut" not in whole.index.get_level_values("column")


# ---- eight systems


@pytest.mark.parametrize("seed", range(2))
def test_tables_of_the_eight_systems_by_counting(run, seed):
    graded = world(seed)
    made = {
        name: released.beside(graded, run, f"v1 Figure {name}")[1] for name in ("6a", "6b", "7")
    }
    made |= {"own": released.own(graded), "failed": released.failed(graded)}
    made |= {"alike": released.agreement(graded)}
    mine = {name: rows.set_index(["row", "column"]) for name, rows in made.items()}
    whose = (graded["model"] == graded["generator"]).map({True: "own", False: "others'"})
    for model, part in graded.groupby("model"):
        (pcs, pcr), *_ = counted(part)
        assert mine["6a"].loc[(model, "PCS"), "value"] == pytest.approx(pcs)
        assert mine["6a"].loc[(model, "PCR"), "value"] == pytest.approx(pcr)
        for by, some in part.groupby("generator"):
            (pcs, _), *_ = counted(some)
            at = mine["6b"].loc[(f"{model} on questions by {by}", "PCS"), "value"]
            assert at == pytest.approx(pcs, nan_ok=True)
        for kind, some in part.groupby("category"):
            (pcs, _), *_ = counted(some)
            assert mine["7"].loc[(kind, model), "value"] == pytest.approx(pcs, nan_ok=True)
        for who, some in part.groupby(whose):
            if model in set(graded["generator"]):
                (_, pcr), n, *_ = counted(some)
                at = mine["own"].loc[(f"{model}, {who} questions", "PCR")]
                assert at[["value", "n"]].tolist() == pytest.approx([pcr, n])
    wide = graded.pivot(index="item", columns="model", values="value").astype(float)
    for a, b in itertools.combinations(MODELS, 2):
        x, y = wide[sorted([a, b])].dropna().to_numpy(int).T
        at = mine["alike"].loc[" vs ".join(sorted([a, b])), "value"]
        assert at["same grade, %"] == pytest.approx(100 * np.mean(x == y))
        kappa = cohen_kappa_score(x, y, weights="quadratic", labels=[-1, 0, 1])
        assert at["quadratic kappa"] == pytest.approx(kappa)
    all_graded = wide.dropna()
    none = mine["failed"].loc["all"]
    assert none["n"].tolist() == [len(all_graded)] * 2
    expected = 100 * np.mean([(row < 1).all() for row in all_graded.to_numpy()])
    alone = 100 * np.prod([(all_graded[m] < 1).mean() for m in MODELS])
    assert none["value"].tolist() == pytest.approx([expected, alone])


def test_pairs_of_the_systems_are_tested_over_questions_and_over_myths(run):
    graded = world(0, MODELS[:2] + ["GPT-4o"])
    made = released.pairs(graded, run).set_index(["row", "column"])["value"]
    wide = graded.pivot(index="item", columns="model", values="value").astype(float)
    for a, b in itertools.combinations(wide, 2):
        x, y = (wide[[a, b]].dropna()[m] == 1 for m in (a, b))
        p = mcnemar((x & ~y).sum(), (y & ~x).sum())
        at = made[f"{a} vs {b}"]
        assert at["PCR p, over questions"] == pytest.approx(p)
        assert at["PCR difference, points"] == pytest.approx(100 * (x.mean() - y.mean()))
        assert 0 < at["PCR p, over myths"] <= 1
    assert made["Claude-3.5-Sonnet vs GPT-4o", "p"] == 4e-3  # as printed


# ---- the cures of the second version


def answers_of(seed):
    """Hits of two methods on the four sets, as `measure` has them."""
    rng = np.random.default_rng(seed)
    sets = ["Cancer-Myth", "Cancer-Myth-NFP", "MedQA", "PubMedQA"]
    rows = list(itertools.product(["plain", "cure"], sets, range(25)))
    frame = pd.DataFrame(rows, columns=["method", "set", "k"]).assign(model="m")
    frame["item"] = frame["set"] + frame.pop("k").astype(str)
    kinds = ["right", "wrong", "not answered", "refused", "failed"]
    outcome = pd.Series(rng.choice(kinds, len(frame)), dtype=object)
    exam = frame["set"].str.endswith("QA")
    frame["outcome"] = outcome.where(exam, None)
    known = np.where(exam, outcome.isin(["right", "wrong"]), rng.random(len(frame)) < 0.85)
    frame["status"] = np.where(known, "graded", "unparsed")
    frame["hit"] = known & np.where(exam, outcome == "right", rng.random(len(frame)) < 0.5)
    frame["truncated"] = rng.random(len(frame)) < 0.2
    frame["reply_status"] = rng.choice(["", "blank"], len(frame), p=[0.9, 0.1])
    frame["calls"] = rng.integers(1, 9, len(frame))
    return frame.assign(complexity=rng.choice(["basic", "advanced"], len(frame)), answer="Yes.")


@pytest.mark.parametrize("seed", SEEDS)
def test_rates_of_the_cures_by_counting(run, seed, monkeypatch):
    graded = answers_of(seed)
    monkeypatch.setattr(run, "card", lambda judge="", task="": card_of(0.95, 0.9))
    rates = cured.rates(graded)
    made = rates.set_index(["row", "column"])
    of = {"graded": graded, "hit": graded["hit"].where(graded["status"] == "graded")}
    shown = wanted("cancer_myth/04_mitigation", "parts", **of).set_index(["row", "column"])
    fixed = corrected(rates, run, "x").set_index(["row", "column"])["value"]
    for (method, name), part in graded.groupby(["method", "set"]):
        r, known = made.loc[(f"m {method}", name)], part[part["status"] == "graded"]
        hits, n = int(known["hit"].sum()), len(known)
        ends = (100 * hits / 25, 100 * (hits + 25 - n) / 25) if n < 25 else (NAN, NAN)
        expected = (100 * hits / n, n, 25 - n, *ends)
        found = r[["value", "n", "unscored", "worst", "best"]].tolist()
        assert found == pytest.approx(expected, nan_ok=True)
        assert [r["low"], r["high"]] == pytest.approx(limits(hits, n), nan_ok=True)
        at, exam = shown.loc[f"m {method}, {name}", "value"], name.endswith("QA")
        came = part[part["reply_status"] == ""]
        assert at["cut off at the limit, %"] == pytest.approx(100 * came["truncated"].mean())
        assert at["no answer, %"] == pytest.approx(100 - 100 * len(came) / len(part))
        assert at["calls for an answer"] == pytest.approx(part["calls"].mean())
        basic = 100 * (part["complexity"] == "basic").mean()
        assert at["complexity basic"] == pytest.approx(basic)
        if exam:
            for kind in ("right", "wrong", "not answered", "refused", "failed"):
                share = 100 * (part["outcome"] == kind).mean()
                assert at[kind] == pytest.approx(share)
        else:
            better = fixed[f"m {method}", f"{name} {CORRECTED}"]
            assert better == pytest.approx(100 * np.clip((hits / n - 0.1) / 0.85, 0, 1))
        uncut = known[~known["truncated"]]["hit"]
        what = {"Cancer-Myth": "corrected", "Cancer-Myth-NFP": "left alone"}.get(name, "right")
        assert at[f"{what}, of the uncut"] == pytest.approx(100 * uncut.mean())
    one = cured.balanced(rates).set_index("row")["value"]
    for method in ("plain", "cure"):
        two = made["value"].loc[f"m {method}"][["Cancer-Myth", "Cancer-Myth-NFP"]]
        assert one[f"m {method}"] == pytest.approx(two.mean())
    tests = cured.against_plain(graded, run).set_index("row")
    hit = graded["hit"].astype(float).where(graded["status"] == "graded")
    wide = graded.assign(hit=hit).pivot(index=["set", "item"], columns="method", values="hit")
    for name, part in wide.dropna().groupby("set"):
        r = tests.loc[f"m cure against plain, {name}"]
        up, down = ((part["cure"] - part["plain"]) == sign for sign in (1, -1))
        assert r["difference"] == pytest.approx(100 * (up.mean() - down.mean()))
        assert (r["n"], r["p"]) == (len(part), pytest.approx(mcnemar(up.sum(), down.sum())))


# ---- how the questions were made


@pytest.mark.parametrize("seed", range(6))
def test_algorithm_1_takes_what_it_says(seed):
    """Up to a number of each category, then any of the rest up to a number in all."""
    rng = np.random.default_rng(seed)
    items = pd.DataFrame({"category": rng.choice(KINDS[:4], 60, p=[0.6, 0.3, 0.07, 0.03])})
    items["generator"] = rng.choice(["one", "two"], 60)
    per_model, per_category = int(rng.integers(3, 32)), int(rng.integers(1, 9))
    chosen = generation.balance(items, per_model, per_category, np.random.default_rng(seed))
    again = generation.balance(items, per_model, per_category, np.random.default_rng(seed))
    assert chosen.index.equals(again.index) and chosen.index.is_monotonic_increasing
    assert chosen.index.is_unique and chosen.equals(items.loc[chosen.index])
    for name, part in items.groupby("generator"):
        size = part["category"].value_counts()
        first = size.clip(upper=per_category)
        mine = chosen[chosen["generator"] == name]["category"].value_counts()
        mine = mine.reindex(size.index, fill_value=0)
        assert (mine >= first).all()
        assert mine.sum() == max(first.sum(), min(per_model, len(part)))
    assert generation.balance(items.head(0), 5, 2, rng).empty
    with pytest.raises(ValueError, match="rumour"):
        generation.balance(items.assign(category="rumour"), 5, 2, rng)


def test_algorithm_1_draws_all_alike():
    """Of 6 and 2 questions one of each category, then two of the 6 that are left."""
    items = pd.DataFrame({"category": [KINDS[0]] * 6 + [KINDS[1]] * 2, "generator": "g"})
    rng = np.random.default_rng(0)
    taken = [i for _ in range(300) for i in generation.balance(items, 4, 1, rng).index]
    share = pd.Series(taken).value_counts().sort_index() / 300
    large, small = 1 / 6 + 5 / 6 * 2 / 6, 1 / 2 + 1 / 2 * 2 / 6
    assert share.tolist() == pytest.approx([large] * 6 + [small] * 2, abs=0.12)


@pytest.mark.parametrize("seed", SEEDS)
def test_tables_of_the_generation_by_counting(run, seed):
    rng = np.random.default_rng(seed)
    n, run.models = 60, ["a", "b"]
    status = ["new", "copied", "missing", "truncated", "unparsed", "refused", "unanswered: blank"]
    asked = pd.DataFrame({"generator": rng.choice(["a", "b"], n), "item": range(n)})
    asked["myth"] = [f"m{k // 3}" for k in range(n)]
    asked["status"] = rng.choice(status, n, p=[0.7, *[0.05] * 6])
    grade = rng.choice([-1, 0, 1, NAN], n)
    came = (asked["status"] == "new") & ~np.isnan(grade)
    asked["verdict"] = np.where(came, "graded", np.where(asked["status"] == "new", "unparsed", ""))
    asked["value"] = pd.Series(grade, dtype=object).where(came, None)
    rounds = pd.DataFrame({"generator": ["a"], "myth": ["m3"], "valid": [4], "invalid": [7]})
    given = {"questions": asked, "rounds": rounds.assign(stopped=""), "run": run}
    names = "outcomes", "sizes", "theirs"
    outcomes, sizes, printed = wanted("cancer_myth/02_adversarial_generation", *names, **given)
    mine = outcomes.set_index(["row", "column"])["value"]
    for name, part in asked.groupby("generator"):
        found = mine[name]
        grades = {
            generation.FOOLS: -1,
            "partly corrected (apart)": 0,
            "easy (joins the invalid set)": 1,
        }
        for column, grade in grades.items():
            hit = [v is not None and v == grade for v in part["value"]]
            assert found[column] == pytest.approx(100 * np.mean(hit)), column
        apart = (part["verdict"] == "unparsed").mean()
        assert found["answered, no grade (apart)"] == pytest.approx(100 * apart)
        for kind in status[1:]:
            share = 100 * (part["status"] == kind).mean()
            assert found.get(f"question {kind}", 0) == pytest.approx(share), kind
        parts = found.drop("question copied", errors="ignore")
        assert parts.sum() + 100 * (part["status"] == "copied").mean() == pytest.approx(100)
    assert sizes.loc["a after m3"].to_dict() == {"valid set": 4, "invalid set": 7}
    printed = printed[printed["row"] == "GPT-4o"]
    asked_for = 994 * 3  # three questions on each myth
    said = run.published("v1 text 4.1").query("row == 'candidates' and column == 'GPT-4o'")
    expected = [100 * said["value"].item() / asked_for, asked_for]
    assert printed[["value", "n"]].values.tolist() == [pytest.approx(expected)]
    kinds = asked.assign(category=rng.choice(KINDS, n))
    shares = pipeline.shares(kinds, "here", "run").set_index("row")["value"]
    for kind in KINDS:
        assert shares[kind] == pytest.approx(100 * (kinds["category"] == kind).mean())


def test_judges_and_a_guesser_beside_the_paper(run):
    """A card's shares by its confusion matrix; of labels 0 how many the judge finds."""
    rng = np.random.default_rng(5)
    labels, said = rng.choice([-1, 0, 1], (2, 90))
    said = np.where(rng.random(90) < 0.6, labels, said)
    found = pd.DataFrame({"status": "graded", "value": said})
    card = trust_card(pd.Series(labels), found, [-1, 0, 1])
    graded = pd.DataFrame({"item": range(90), "judge": "j", "label": labels, "grade": said})
    given = {"measured": {"j": card}, "graded": graded}
    ours = wanted("cancer_myth/05_judge_agreement", "ours", **given)
    made = ours.set_index(["row", "column"])["value"]
    kappa, squares = (cohen_kappa_score(labels, said, weights=w) for w in (None, "quadratic"))
    expected = {
        "exact match": 100 * np.mean(labels == said),
        study.BINARY: 100 * np.mean((labels == 1) == (said == 1)),
        "sensitivity for 1": 100 * np.mean(said[labels == 1] == 1),
        "specificity for 1": 100 * np.mean(said[labels != 1] != 1),
        "exact match where the label is 0": 100 * np.mean(said[labels == 0] == 0),
        "kappa": kappa,
        "kappa, quadratic": squares,
    }
    assert made["j"][list(expected)].tolist() == pytest.approx(list(expected.values()))
    most = pd.Series(labels).value_counts(normalize=True).max()
    assert made["constant guesser", "exact match"] == pytest.approx(100 * most)
    assert made["constant guesser", "kappa"] == 0
