"""Cancer-Myth's measures on random worlds, against well-kept libraries and plain counting."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.metrics import cohen_kappa_score

from bedside import stats
from bedside.papers.cancer_myth import data, generation, pipeline, released, scores, systems
from bedside.papers.cancer_myth.v2 import scores as cured
from bedside.write.tables import paired
from cells import wanted

NAN = float("nan")
KINDS = list(data.CATEGORIES.values())
MODELS = list(systems.SYSTEMS.values())
WRITERS = ["Gemini-1.5-Pro", "GPT-4o", "Claude-3.5-Sonnet", "Manual"]
CELL = ["row", "column"]


def world(seed, models=MODELS, n=30, alike=2):
    """Grades by models of the same questions, some without one; `alike` rest on one myth."""
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
    return frame.assign(reply_status=rng.choice(["", "blank"], size, p=[0.8, 0.2]))


def counted(part):
    """PCS and PCR (percent), graded and ungraded answers, and the ends of both means."""
    grades = [float(v) for v in part["value"] if v is not None]
    lost, n, right = len(part) - len(grades), len(part), 100 * sum(v == 1 for v in part["value"])
    mean = [total / len(grades) if grades else NAN for total in (sum(grades), right)]
    ends = (sum(grades) - lost) / n, (sum(grades) + lost) / n
    return mean, len(grades), lost, [ends, (right / n, (right + 100 * lost) / n)]


def differing(a, b):
    """p of an exact sign test of two columns of booleans; 1 without a discordant pair."""
    more, less = int((a & ~b).sum()), int((b & ~a).sum())
    return binomtest(more, more + less).pvalue if more + less else 1


@pytest.mark.parametrize("by", [[], ["category"], ["generator"]])
def test_pcs_and_pcr_by_counting(by):
    graded = world(0, MODELS[:3])
    made = scores.scores(graded, by).set_index(["model", *by, "metric"])
    assert len(made) == 2 * graded[["model", *by]].drop_duplicates().shape[0]
    for key, part in graded.groupby(["model", *by]):
        means, n, lost, ends = counted(part)
        for metric, value, span in zip(("PCS", "PCR"), means, ends):
            found = made.loc[(*key, metric)][["value", "n", "unscored", "worst", "best"]]
            expected = (value, n, lost, *(span if lost else (NAN, NAN)))
            assert found.tolist() == pytest.approx(expected, nan_ok=True), (key, metric)


def test_pairs_of_models_and_holm_over_all_p_of_a_table(run_of):
    graded = world(3, ["a", "b", "c"], alike=1)
    made = paired(graded, run_of("cancer_myth", "03_evaluation"))
    rows = scores.pairs(made).set_index(CELL)["value"]
    said = [rows[row, f"{kind} p, Holm"] for kind in ("PCR", "PCS") for row in made["row"]]
    assert said == pytest.approx(stats.holm(np.r_[made["p"], made["permutation"]]))
    wide = graded.pivot(index="item", columns="model", values="value").astype(float)
    for a, b in itertools.combinations("abc", 2):
        x, y = (wide[[a, b]].dropna()[m] == 1 for m in (a, b))
        assert rows[f"{a} vs {b}", "PCR p"] == pytest.approx(differing(x, y))
        difference = rows[f"{a} vs {b}", "PCR difference, points"]
        assert difference == pytest.approx(100 * (x.mean() - y.mean()))


def card_of(sensitivity, specificity):
    """A trust card with these rates, of a thousand labels each."""
    rates = {"sensitivity": sensitivity, "specificity": specificity}
    return {k: stats.wilson(round(1000 * v), 1000)._asdict() for k, v in rates.items()}


def test_rates_are_corrected_for_the_judges_errors(run_of, monkeypatch):
    """Rogan and Gladen: (rate + specificity - 1) / (sensitivity + specificity - 1), in 0 to 1."""
    graded, run = world(0, ["a", "b"]), run_of("cancer_myth", "03_evaluation")
    cards = {"good": card_of(0.9, 0.8), "none": {"n": 3, "unscored": 3}}
    monkeypatch.setattr(run, "card", lambda judge, task: cards[judge])
    rates = scores.scores(graded).query("metric == 'PCR'")
    good, none = (scores.corrected(rates, run, "x", judge=j).set_index("row") for j in cards)
    for model, part in graded.groupby("model"):
        (_, rate), n, lost, _ = counted(part)
        expected = [100 * min(max((rate / 100 - 0.2) / 0.7, 0), 1), n, lost]
        assert good.loc[model, ["value", "n", "unscored"]].tolist() == pytest.approx(expected)
        assert np.isnan(none.loc[model, "value"]) and none.loc[model, "n"] == 0


def test_what_became_of_the_answers():
    graded = world(1, ["a", "b"])
    first = graded["item"].unique()[:20]
    given = {"graded": graded[graded["item"].isin(first)], "answered": graded}
    given["posed"] = pd.DataFrame({"item": first})
    made = wanted("cancer_myth/03_evaluation", "health", **given).set_index(CELL)
    for posed, model in itertools.product((True, False), "ab"):
        part = graded[(graded["item"].isin(first) == posed) & (graded["model"] == model)]
        came = part[part["reply_status"] == ""]
        lost = 100 - 100 * len(came) / len(part)
        expected = {
            "mean words": (came["answer"].str.split().str.len().mean(), len(came)),
            "cut off at the limit, %": (100 * came["truncated"].mean(), len(came)),
            "no answer, %": (lost, len(part)),
            "no answer: blank, %": (lost, len(part)),
        }
        if posed:
            (pcs, pcr), n, *_ = counted(part[~part["truncated"]])
            expected |= {"PCR of the uncut": (pcr, n), "PCS of the uncut": (pcs, n)}
        row = made.loc[f"{model}, {'' if posed else 'no '}false presupposition"]
        for column, pair in expected.items():
            assert row.loc[column, ["value", "n"]].tolist() == pytest.approx(pair), column


# ---- eight systems


def test_tables_of_the_eight_systems_by_counting(run_of):
    graded, run = world(1), run_of("cancer_myth", "03_evaluation")
    made = [released.beside(graded, run, f"v1 Figure {name}")[1] for name in ("6a", "6b", "7")]
    made += [released.own(graded), released.agreement(graded), released.failed(graded)]
    *figures, own, alike, failed = (rows.set_index(CELL) for rows in made)
    found = pd.concat(figures)["value"]
    whose = (graded["model"] == graded["generator"]).map({True: "own", False: "others'"})
    for model, part in graded.groupby("model"):
        groups = {(model, "PCS"): part}
        for by, some in part.groupby("generator"):
            groups[f"{model} on questions by {by}", "PCS"] = some
        groups |= {(kind, model): some for kind, some in part.groupby("category")}
        for cell, some in groups.items():
            assert found[cell] == pytest.approx(counted(some)[0][0], nan_ok=True), cell
        assert found[model, "PCR"] == pytest.approx(counted(part)[0][1])
        for who, some in part.groupby(whose) if model in WRITERS else ():
            (_, pcr), n, *_ = counted(some)
            at = own.loc[(f"{model}, {who} questions", "PCR"), ["value", "n"]]
            assert at.tolist() == pytest.approx([pcr, n])
    wide = graded.pivot(index="item", columns="model", values="value").astype(float)
    for a, b in itertools.combinations(sorted(MODELS), 2):
        x, y = wide[[a, b]].dropna().to_numpy(int).T
        at = alike.loc[f"{a} vs {b}", "value"]
        kappa = cohen_kappa_score(x, y, weights="quadratic", labels=[-1, 0, 1])
        assert (at["same grade, %"], at["quadratic kappa"]) == pytest.approx(
            (100 * np.mean(x == y), kappa)
        )
    wrong, none = wide.dropna() < 1, failed.loc["all"]
    assert none["n"].tolist() == [len(wrong)] * 2
    assert none["value"].tolist() == pytest.approx(
        [100 * wrong.all(axis=1).mean(), 100 * wrong.mean().prod()]
    )


def test_pairs_of_the_systems_are_tested_over_questions_and_over_myths(run_of):
    graded = world(0, MODELS[:2] + ["GPT-4o"])
    made = released.pairs(graded, run_of("cancer_myth", "03_evaluation")).set_index(CELL)["value"]
    wide = graded.pivot(index="item", columns="model", values="value").astype(float)
    for a, b in itertools.combinations(wide, 2):
        x, y = (wide[[a, b]].dropna()[m] == 1 for m in (a, b))
        assert made[f"{a} vs {b}", "PCR p, over questions"] == pytest.approx(differing(x, y))
        assert 0 < made[f"{a} vs {b}", "PCR p, over myths"] <= 1
    assert made["Claude-3.5-Sonnet vs GPT-4o", "p"] == 4e-3  # as printed


# ---- the cures of the second version


def answers_of(seed):
    """Hits of two methods on the four sets, as `measure` has them."""
    rng = np.random.default_rng(seed)
    rows = list(itertools.product(["plain", "cure"], cured.SETS, range(25)))
    frame = pd.DataFrame(rows, columns=["method", "set", "k"]).assign(model="m", answer="Yes.")
    frame["item"], size = frame["set"] + frame.pop("k").astype(str), len(frame)
    outcome = pd.Series(rng.choice(cured.OUTCOMES, size), dtype=object)
    exam = frame["set"].str.endswith("QA")
    frame["outcome"] = outcome.where(exam, None)
    known = np.where(exam, outcome.isin(["right", "wrong"]), rng.random(size) < 0.85)
    frame["status"] = np.where(known, "graded", "unparsed")
    frame["hit"] = known & np.where(exam, outcome == "right", rng.random(size) < 0.5)
    frame["truncated"] = rng.random(size) < 0.2
    frame["reply_status"] = rng.choice(["", "blank"], size, p=[0.9, 0.1])
    more = {
        "calls": rng.integers(1, 9, size),
        "complexity": rng.choice(["basic", "advanced"], size),
    }
    return frame.assign(**more)


def test_rates_of_the_cures_by_counting(run_of):
    graded, run = answers_of(0), run_of("cancer_myth", "03_evaluation")
    rates = cured.rates(graded)
    made, hit = rates.set_index(CELL), graded["hit"].where(graded["status"] == "graded")
    for (method, name), part in graded.groupby(["method", "set"]):
        known = part[part["status"] == "graded"]
        hits, n = int(known["hit"].sum()), len(known)
        ends = (100 * hits / 25, 100 * (hits + 25 - n) / 25) if n < 25 else (NAN, NAN)
        found = made.loc[(f"m {method}", name)][["value", "n", "unscored", "worst", "best"]]
        expected = (100 * hits / n, n, 25 - n, *ends)
        assert found.tolist() == pytest.approx(expected, nan_ok=True)
    one = cured.balanced(rates).set_index("row")["value"]
    tests = cured.against_plain(graded, run).set_index("row")
    for method in ("plain", "cure"):
        both = made["value"].loc[f"m {method}"][[*cured.KINDS]]
        assert one[f"m {method}"] == pytest.approx(both.mean())
    wide = graded.assign(hit=hit).pivot(index=["set", "item"], columns="method", values="hit")
    for name, part in wide.dropna().groupby("set"):
        x, y, r = part["cure"] == 1, part["plain"] == 1, tests.loc[f"m cure against plain, {name}"]
        found, p = r[["difference", "n", "p"]].tolist(), differing(x, y)
        assert found == pytest.approx([100 * (x.mean() - y.mean()), len(part), p])


# ---- how the questions were made


@pytest.mark.parametrize("seed", range(3))
def test_algorithm_1_takes_what_it_says(seed):
    """Up to a number of each category, then any of the rest up to a number in all."""
    rng = np.random.default_rng(seed)
    items = pd.DataFrame({"category": rng.choice(KINDS[:4], 60, p=[0.6, 0.3, 0.07, 0.03])})
    items["generator"] = rng.choice(["one", "two"], 60)
    most, each = int(rng.integers(3, 32)), int(rng.integers(1, 9))
    chosen = generation.balance(items, most, each, np.random.default_rng(seed))
    assert chosen.index.is_monotonic_increasing and chosen.index.is_unique
    for name, part in items.groupby("generator"):
        first = part["category"].value_counts().clip(upper=each)
        mine = chosen[chosen["generator"] == name]["category"].value_counts()
        assert (mine.reindex(first.index, fill_value=0) >= first).all()
        assert mine.sum() == max(first.sum(), min(most, len(part)))
    assert generation.balance(items.head(0), 5, 2, rng).empty
    with pytest.raises(ValueError, match="rumour"):
        generation.balance(items.assign(category="rumour"), 5, 2, rng)


def test_algorithm_1_draws_all_alike():
    """Of 6 and 2 questions one of each category, then two of the 6 that are left."""
    items = pd.DataFrame({"category": [KINDS[0]] * 6 + [KINDS[1]] * 2, "generator": "g"})
    rng = np.random.default_rng(0)
    taken = [i for _ in range(100) for i in generation.balance(items, 4, 1, rng).index]
    share = pd.Series(taken).value_counts().sort_index() / 100
    large, small = 1 / 6 + 5 / 6 * 2 / 6, 1 / 2 + 1 / 2 * 2 / 6
    assert share.tolist() == pytest.approx([large] * 6 + [small] * 2, abs=0.2)


def test_tables_of_the_generation_by_counting(run_of):
    rng, run, n = np.random.default_rng(1), run_of("cancer_myth", "03_evaluation"), 60
    lost = ["copied", "missing", "truncated", "unparsed", "refused", "unanswered: blank"]
    asked = pd.DataFrame({"generator": rng.choice(["a", "b"], n), "item": range(n)})
    asked["myth"] = [f"m{k // 3}" for k in range(n)]
    asked["status"] = rng.choice(["new", *lost], n, p=[0.7, *[0.05] * 6])
    grade = rng.choice([-1, 0, 1, NAN], n)
    came = (asked["status"] == "new") & ~np.isnan(grade)
    asked["verdict"] = np.where(came, "graded", np.where(asked["status"] == "new", "unparsed", ""))
    asked["value"] = pd.Series(grade, dtype=object).where(came, None)
    rounds = pd.DataFrame({"generator": ["a"], "myth": ["m3"], "valid": [4], "invalid": [7]})
    given = {"questions": asked, "rounds": rounds.assign(stopped=""), "run": run}
    names = "outcomes", "sizes", "theirs"
    outcomes, sizes, theirs = wanted("cancer_myth/02_adversarial_generation", *names, **given)
    found = outcomes.set_index(CELL)["value"]
    grades = {generation.FOOLS: -1, "partly corrected (apart)": 0}
    grades["easy (joins the invalid set)"] = 1
    for name, part in asked.groupby("generator"):
        expected = {column: (part["value"] == v).mean() for column, v in grades.items()}
        expected["answered, no grade (apart)"] = (part["verdict"] == "unparsed").mean()
        expected |= {f"question {kind}": (part["status"] == kind).mean() for kind in lost}
        assert sum(expected.values()) == pytest.approx(1)
        for column, share in expected.items():
            assert found[name].get(column, 0) == pytest.approx(100 * share), column
    assert sizes.loc["a after m3"].to_dict() == {"valid set": 4, "invalid set": 7}
    said = run.published("v1 text 4.1").query("row == 'candidates' and column == 'GPT-4o'")
    theirs = theirs[theirs["row"] == "GPT-4o"]["value"].item()  # of three on each of 994 myths
    assert theirs == pytest.approx(100 * said["value"].item() / (994 * 3))
    shares = pipeline.shares(asked.assign(category=rng.choice(KINDS[:2], n)), "here", "run")
    assert shares["value"].sum() == pytest.approx(100) and (shares["value"] > 0).sum() == 2
