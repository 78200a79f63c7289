"""Results as rows: means, paired differences, points; against pandas, statsmodels, brute force."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, t
from statsmodels.stats.proportion import proportion_confint

from bedside import BedsideError, stats
from bedside.write import charts, plots
from bedside.write.results import means, paired, points, show

SCORES = {"f1": "F1", "ok": "right, %"}


class Seeds:
    mode, models = "replay", ["a", "b"]

    def rng(self, *name):
        return np.random.default_rng([len(str(n)) for n in name])


def world(seed, n=30):
    """Scores of two models in two places on n items; some are missing."""
    rng = np.random.default_rng(seed)
    keys = [(f"q{i}", m, p) for m in "ab" for p in ("", ", base") for i in range(n)]
    frame = pd.DataFrame(keys, columns=["item", "model", "place"])
    frame["f1"] = np.where(rng.random(len(frame)) < 0.1, np.nan, rng.random(len(frame)))
    frame["ok"] = pd.array(rng.random(len(frame)) < 0.6, dtype="boolean")
    frame.loc[rng.random(len(frame)) < 0.1, "ok"] = pd.NA
    return frame


@pytest.mark.parametrize("seed", range(3))
def test_means_are_those_of_the_groups_that_labels_name(seed):
    scores = world(seed)
    rows = means(scores, SCORES, "{model}", "{metric}{place}").set_index(["row", "column"])
    assert len(rows) == 8 and set(rows["source"]) == {"run"}
    for (m, p), part in scores.groupby(["model", "place"]):
        r, got = rows.loc[(m, f"F1{p}")], part["f1"].dropna()
        assert (r["value"], r["n"]) == (pytest.approx(got.mean()), len(got))
        ends = [part["f1"].fillna(end).mean() for end in (0, 1)]
        assert r["unscored"] == part["f1"].isna().sum()
        if r["unscored"]:
            assert r[["worst", "best"]].tolist() == pytest.approx(ends)
        r, hits = rows.loc[(m, f"right, %{p}")], part["ok"].dropna().astype(float)
        alpha = 2 * norm.sf(t.ppf(0.975, len(hits) - 1))  # Wilson's, with t for z
        low, high = proportion_confint(hits.sum(), len(hits), alpha, method="wilson")
        assert r["value"] == pytest.approx(100 * hits.mean())
        assert r[["low", "high"]].tolist() == pytest.approx([100 * low, 100 * high])


def test_the_method_of_an_interval_does_not_depend_on_missing_values_nor_on_the_order_of_rows():
    scores = world(0)
    whole = scores.dropna(subset=["ok"])
    for frame in (whole.assign(ok=whole["ok"].astype(bool)), whole.sample(frac=1, random_state=1)):
        a, b = (means(f, {"ok": "ok"}).set_index("row").loc["a"] for f in (scores, frame))
        assert (
            a[["value", "low", "high", "n"]].tolist() == b[["value", "low", "high", "n"]].tolist()
        )


def test_units_widen_intervals_and_a_group_without_values_says_so():
    scores = world(1).assign(unit=lambda f: f["item"].str[1:].astype(int) // 2)
    few, many = (means(f, {"f1": "F1"}) for f in (scores, scores.drop(columns="unit")))
    assert (few["high"] - few["low"] > 0).all() and len(few) == len(many) == 2
    assert (few["low"] != many["low"]).all() and few["value"].tolist() == pytest.approx(
        many["value"]
    )
    none = means(scores.assign(f1=np.nan), {"f1": "F1"}).iloc[0]
    assert none["n"] == 0 and np.isnan(none["value"]) and (none["worst"], none["best"]) == (0, 1)


def test_paired_differences_are_of_items_that_both_have():
    scores = world(2)
    first, second = (scores[scores["place"] == p] for p in ("", ", base"))
    rows = paired(first, second.iloc[5:], {"f1": "F1"}, Seeds(), "table")
    rows = rows.set_index(["row", "column"])
    p = []
    for m in "ab":
        x, y = (f[f["model"] == m].set_index("item")["f1"] for f in (first, second.iloc[5:]))
        change = (y - x).dropna()
        assert rows.loc[(m, "Δ F1"), "value"] == pytest.approx(change.mean())
        assert rows.loc[(m, "Δ F1"), "n"] == rows.loc[(m, "p of Δ F1, Holm"), "n"] == len(change)
        made = change.to_numpy(), change.to_numpy() * 0, Seeds().rng("table", "f1")
        p.append(stats.paired_permutation(*made, units=change.index.to_numpy()))
    assert rows.loc[[(m, "p of Δ F1, Holm") for m in "ab"], "value"].tolist() == list(stats.holm(p))
    renamed = paired(first, second.iloc[5:], {"f1": "score"}, Seeds(), "table")
    assert renamed["value"].tolist() == rows["value"].tolist()  # no stream has a label's name


def test_differences_of_booleans_are_in_percentage_points_as_shares_are_in_percent():
    first = pd.DataFrame({"item": range(20), "model": "a", "ok": [False] * 10 + [True] * 10})
    second, none = first.assign(ok=True), first.assign(model="b", ok=None)
    rows = paired(first, second, {"ok": "right"}, Seeds(), "t").set_index("column")
    assert rows.loc["Δ right", ["value", "n"]].tolist() == [50, 20]
    rows = paired(pd.concat([first, none]), second, {"ok": "right"}, Seeds(), "t")
    alone = rows[rows["row"] == "b"]
    assert alone["n"].tolist() == [0, 0] and alone["value"].isna().all()
    as_objects = first.assign(ok=first["ok"].astype(object).mask(first["item"] > 15))
    assert means(as_objects, {"ok": "right"})["value"].tolist() == [100 * 6 / 16]


def test_a_wrong_column_is_named_with_those_that_are_there():
    with pytest.raises(BedsideError, match="column of the scores 'modell'.*'model'"):
        means(world(0), {"f1": "F1"}, "{modell}")
    with pytest.raises(BedsideError, match="column of the scores 'f2'"):
        means(world(0), {"f2": "F2"})


def test_points_are_numbers_or_intervals():
    made = points({("a", "x"): 0.5, ("a", "y"): stats.Interval(0.5, 0.25, 0.75, 8)}, "raw", n=3)
    assert made[["value", "low", "n"]].fillna(-1).to_numpy().tolist() == [
        [0.5, -1, 3],
        [0.5, 0.25, 8],
    ]
    frame = pd.DataFrame({"x": [1.0, np.nan]}, index=["a", "b"])
    assert points(frame, "recomputed")["row"].tolist() == ["a"]


def test_a_table_without_rows_is_an_error_that_names_it():
    with pytest.raises(BedsideError, match="table9: a table needs rows"):
        show(Seeds(), "table9", "Table 9", None, pd.DataFrame())


@pytest.mark.parametrize("width", [plots.WIDE, plots.NARROW])
def test_charts_show_each_number_or_say_that_there_is_none(width):
    rows = means(world(3), {"f1": "F1"}, "{model}", "{metric}{place}")
    figure = charts.forest(rows, limits=(0, 1), width=width)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["F1", "F1, base"]
    shown = charts.heat(rows, width=width)
    cells = {t.get_text() for ax in shown.axes for t in ax.texts}
    assert cells == {f"{v:.2f}" for v in rows["value"]}
    none = charts.forest(rows.assign(value=np.nan, low=np.nan, high=np.nan), columns=["F1"])
    assert "no value" in {t.get_text() for ax in none.axes for t in ax.texts}
