"""Cancer-Myth's measures on random worlds, against well-kept libraries and plain counting."""

import itertools

import numpy as np
import pandas as pd
import pytest
from counting import NAN, counted
from scipy.stats import binomtest
from sklearn.metrics import cohen_kappa_score

from bedside import stats
from bedside.papers.cancer_myth import data, generation, released, scores, systems
from bedside.papers.cancer_myth.v2 import scores as cured
from bedside.write.tables import paired

KINDS = list(data.CATEGORIES.values())
MODELS = list(systems.SYSTEMS.values())
WRITERS = ["Gemini-1.5-Pro", "GPT-4o", "Claude-3.5-Sonnet", "Manual"]
CELL = ["row", "column"]
ENDS = {"PCS": (-1, 1), "PCR": (0, 100)}


@pytest.fixture
def run(run_of):
    return run_of("cancer_myth", "03_evaluation")


def world(seed, models=MODELS, n=30, alike=2):
    """Grades by models of the same questions, some without one; `alike` rest on one myth."""
    rng = np.random.default_rng(seed)
    items = pd.DataFrame({"item": [f"q{k:02}" for k in range(n)]})
    items["unit"] = [f"m{k // alike}" for k in range(n)]
    items["category"], items["generator"] = rng.choice(KINDS, n), rng.choice(WRITERS, n)
    frame = items.merge(pd.DataFrame({"model": models}), how="cross")
    size = len(frame)
    grade = rng.choice([1, 0, -1, NAN], size, p=[0.3, 0.3, 0.3, 0.1])
    return frame.assign(
        status=np.where(np.isnan(grade), "unparsed", "graded"),
        value=pd.Series(grade, dtype=object).where(~np.isnan(grade), None),
    )


def grades(part):
    """What each answer counts for PCS and, in percent, for PCR."""
    grade = part["value"].astype(float).to_numpy()
    return {"PCS": grade, "PCR": np.where(np.isnan(grade), NAN, 100 * (grade == 1))}


def wide(graded):
    return graded.pivot(index="item", columns="model", values="value").astype(float)


def differing(a, b):
    """p of an exact sign test of two columns of booleans; 1 without a discordant pair."""
    more, less = int((a & ~b).sum()), int((b & ~a).sum())
    return binomtest(more, more + less).pvalue if more + less else 1


@pytest.mark.parametrize("by", [[], ["category"], ["generator"]])
def test_pcs_and_pcr_by_counting(by):
    graded = world(0, MODELS[:3])
    made = scores.scores(graded, by)
    for (model, *rest), part in graded.groupby(["model", *by]):
        for metric, values in grades(part).items():
            counted(made, {(model, ", ".join([metric, *rest])): values}, ENDS[metric])


def test_pairs_are_tested_exactly_and_holm_corrects_all_p_of_a_table(run):
    graded = world(3, MODELS[:2] + ["GPT-4o"], alike=1)
    of_systems = released.pairs(graded, run)
    for made, over in ((scores.pairs(paired(graded, run)), ""), (of_systems, ", over questions")):
        rows = made.set_index(CELL)["value"]
        for a, b in itertools.combinations(wide(graded), 2):
            x, y = (wide(graded)[[a, b]].dropna()[m] == 1 for m in (a, b))
            at = rows[f"{a} vs {b}"]
            assert at[f"PCR p{over}"] == pytest.approx(differing(x, y))
            gap = 100 * (x.mean() - y.mean())
            assert at["PCR difference, points"] == pytest.approx(gap)
        p, fixed = (
            rows.unstack()[[f"{kind} p{holm}{over}" for kind in ("PCR", "PCS")]].dropna()
            for holm in ("", ", Holm")
        )
        assert fixed.to_numpy().ravel() == pytest.approx(stats.holm(p.to_numpy().ravel()))
    rows = of_systems.set_index(CELL)["value"].unstack()
    assert rows["PCR p, over myths"].dropna().between(0, 1).all()
    assert rows.loc["Claude-3.5-Sonnet vs GPT-4o", "p"] == 4e-3  # as printed


def test_rates_are_corrected_for_the_judges_errors(run, monkeypatch):
    """Rogan and Gladen: (rate + specificity - 1) / (sensitivity + specificity - 1), in 0 to 1."""
    card = {"sensitivity": 900, "specificity": 800}  # of a thousand labels each
    card = {k: stats.wilson(hits, 1000)._asdict() for k, hits in card.items()}
    cards = {"good": card, "none": {"n": 3, "unscored": 3}}
    monkeypatch.setattr(run, "card", lambda judge, task: cards[judge])
    rates = scores.scores(world(0, ["a", "b"])).query("metric == 'PCR'").set_index("row")
    good, none = (
        scores.corrected(rates.reset_index(), run, "x", judge=judge).set_index("row")
        for judge in cards
    )
    fixed = 100 * ((rates["value"] / 100 - 0.2) / 0.7).clip(0, 1)
    assert good["value"].to_dict() == pytest.approx(fixed.to_dict())
    assert good[["n", "unscored"]].equals(rates[["n", "unscored"]].astype(good["n"].dtype))
    assert none["value"].isna().all() and not none["n"].any()


def test_tables_of_the_eight_systems_by_counting(run):
    graded = world(1)
    figures = (released.beside(graded, run, f"v1 Figure {name}")[1] for name in ("6a", "6b", "7"))
    made = pd.concat([*figures, released.own(graded)])
    whose = (graded["model"] == graded["generator"]).map({True: "own", False: "others'"})
    for model, part in graded.groupby("model"):
        expected = {(model, metric): values for metric, values in grades(part).items()}
        for writer, some in part.groupby("generator"):
            expected[f"{model} on questions by {writer}", "PCS"] = grades(some)["PCS"]
        for kind, some in part.groupby("category"):
            expected[kind, model] = grades(some)["PCS"]
        for who, some in part.groupby(whose) if model in WRITERS else ():
            expected[f"{model}, {who} questions", "PCR"] = grades(some)["PCR"]
        counted(made, expected)
    alike, grade = released.agreement(graded).set_index(CELL)["value"], wide(graded)
    for a, b in itertools.combinations(sorted(MODELS), 2):
        x, y = grade[[a, b]].dropna().to_numpy(int).T
        kappa = cohen_kappa_score(x, y, weights="quadratic", labels=[-1, 0, 1])
        same = {"same grade, %": 100 * np.mean(x == y), "quadratic kappa": kappa}
        assert alike[f"{a} vs {b}"].to_dict() == pytest.approx(same)
    wrong, failed = grade.dropna() < 1, released.failed(graded)
    counted(failed, {("all", "corrected by none, %"): 100 * wrong.all(axis=1)})
    alone = failed.set_index(CELL).loc[("all", "if independent, %")]
    assert alone[["value", "n"]].tolist() == [pytest.approx(100 * wrong.mean().prod()), len(wrong)]


# ---- the cures of the second version


def test_rates_of_the_cures_by_counting(run):
    rng, rows = (
        np.random.default_rng(0),
        itertools.product(("plain", "cure"), cured.SETS, range(25)),
    )
    graded = pd.DataFrame(rows, columns=["method", "set", "k"]).assign(model="m")
    graded["item"], size = graded["set"] + graded.pop("k").astype(str), len(graded)
    known = rng.random(size) < 0.85
    graded["status"] = np.where(known, "graded", "unparsed")
    graded["hit"] = known & (rng.random(size) < 0.5)
    rates = cured.rates(graded)
    hit = graded.assign(hit=np.where(known, 100 * graded["hit"], NAN))
    for (method, name), part in hit.groupby(["method", "set"]):
        counted(rates, {(f"m {method}", name): part["hit"]}, (0, 100))
    values = rates.set_index(CELL)["value"].unstack()
    one = cured.balanced(rates).set_index("row")["value"]
    assert one.to_dict() == pytest.approx(values[[*cured.KINDS]].mean(axis=1).to_dict())
    tests = cured.against_plain(graded, run).set_index("row")
    both = hit.pivot(index=["set", "item"], columns="method", values="hit").dropna()
    for name, part in both.groupby("set"):
        x, y = part["cure"] == 100, part["plain"] == 100
        found = tests.loc[f"m cure against plain, {name}", ["difference", "n", "p"]].tolist()
        gap = 100 * (x.mean() - y.mean())
        assert found == pytest.approx([gap, len(part), differing(x, y)])


# ---- how the questions were made


@pytest.mark.parametrize("seed", range(3))
def test_algorithm_1_takes_what_it_says(seed):
    """Up to a number of each category, then any of the rest up to a number in all."""
    rng = np.random.default_rng(seed)
    items = pd.DataFrame({"category": rng.choice(KINDS[:4], 60, p=[0.6, 0.3, 0.07, 0.03])})
    items["generator"] = rng.choice(["one", "two"], 60)
    most, each = int(rng.integers(3, 32)), int(rng.integers(1, 9))
    chosen = generation.balance(items, most, each, rng)
    assert chosen.index.is_monotonic_increasing and chosen.index.is_unique
    for name, part in items.groupby("generator"):
        first = part["category"].value_counts().clip(upper=each)
        mine = chosen[chosen["generator"] == name]["category"].value_counts()
        assert (mine.reindex(first.index, fill_value=0) >= first).all()
        assert mine.sum() == max(first.sum(), min(most, len(part)))
    assert generation.balance(items.head(0), 5, 2, rng).empty
    with pytest.raises(ValueError, match="rumour"):
        generation.balance(items.assign(category="rumour"), 5, 2, rng)
