"""Results as rows: means, paired differences, points; against pandas, statsmodels, brute force."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, t
from statsmodels.stats.proportion import proportion_confint

from bedside import BedsideError, stats
from bedside.write import charts, plots
from bedside.write.results import means, paired, points, show


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


def test_means_are_those_of_the_groups_that_labels_name():
    scores = world(0)
    rows = means(scores, {"f1": "F1", "ok": "right, %"}, "{model}", "{metric}{place}")
    rows = rows.set_index(["row", "column"])
    assert len(rows) == 8 and set(rows["source"]) == {"run"}
    for (m, p), part in scores.groupby(["model", "place"]):
        for column, name, most in (("f1", "F1", 1), ("ok", "right, %", 100)):
            r, x = rows.loc[(m, name + p)], part[column].astype(float)
            assert (r["value"], r["n"]) == (pytest.approx(most * x.mean()), x.count())
            ends = [most * x.fillna(end).mean() for end in (0, 1)]
            assert r["unscored"] == x.isna().sum() or not x.isna().any()
            assert not x.isna().any() or r[["worst", "best"]].tolist() == pytest.approx(ends)
        hits = part["ok"].dropna().astype(float)
        alpha = 2 * norm.sf(t.ppf(0.975, len(hits) - 1))  # Wilson's, with t for z
        low, high = proportion_confint(hits.sum(), len(hits), alpha, method="wilson")
        assert r[["low", "high"]].tolist() == pytest.approx([100 * low, 100 * high])


def test_paired_differences_are_of_items_that_both_have():
    scores = world(2)
    first, second = scores[scores["place"] == ""], scores[scores["place"] != ""].iloc[5:]
    rows = paired(first, second, {"f1": "F1"}, Seeds(), "table")
    p = []
    for (m, x), (_, y) in zip(first.groupby("model"), second.groupby("model")):
        change = (y.set_index("item")["f1"] - x.set_index("item")["f1"]).dropna()
        (found,) = rows[(rows["row"] == m) & (rows["column"] == "Δ F1")].to_dict("records")
        assert (found["value"], found["n"]) == (pytest.approx(change.mean()), len(change))
        x, rng = change.to_numpy(), Seeds().rng("table", "f1")
        p.append(stats.paired_permutation(x, 0 * x, rng, units=change.index.to_numpy()))
    tested = rows[rows["column"] == "p of Δ F1, Holm"]
    assert tested["value"].tolist() == list(stats.holm(p)) and tested["n"].gt(0).all()
    renamed = paired(first, second, {"f1": "score"}, Seeds(), "table")
    assert renamed["value"].tolist() == rows["value"].tolist()  # no stream has a label's name


def test_differences_of_booleans_are_in_percentage_points_as_shares_are_in_percent():
    first = pd.DataFrame({"item": range(20), "model": "a", "ok": [False] * 10 + [True] * 10})
    none = first.assign(model="b", ok=None)
    rows = paired(pd.concat([first, none]), first.assign(ok=True), {"ok": "right"}, Seeds(), "t")
    change = rows[rows["column"] == "Δ right"].set_index("row")
    assert change.loc["a", ["value", "n"]].tolist() == [50, 20]
    assert rows.loc[rows["row"] == "b", "n"].tolist() == [0, 0]
    unscored = means(none, {"ok": "right"}).iloc[0]
    assert unscored["n"] == 0 and unscored[["worst", "best"]].tolist() == [0, 1]
    as_objects = first.assign(ok=first["ok"].astype(object).mask(first["item"] > 15))
    assert means(as_objects, {"ok": "right"})["value"].tolist() == [100 * 6 / 16]


@pytest.mark.parametrize(
    "metric, row, told",
    [
        ("f1", "{modell}", "column of the scores 'modell'.*'model'"),
        ("f2", "{model}", "column of the scores 'f2'"),
    ],
)
def test_a_label_or_metric_that_is_no_column_is_named(metric, row, told):
    with pytest.raises(BedsideError, match=told):
        means(world(0), {metric: "F"}, row)


def test_a_table_without_rows_is_an_error():
    with pytest.raises(BedsideError, match="table9: a table needs rows"):
        show(Seeds(), "table9", "Table 9", None, pd.DataFrame())


def test_points_are_numbers_or_intervals():
    made = points({("a", "x"): 0.5, ("a", "y"): stats.Interval(0.5, 0.25, 0.75, 8)}, "raw", n=3)
    assert made[["low", "n"]].fillna(-1).to_numpy().tolist() == [[-1, 3], [0.25, 8]]
    frame = pd.DataFrame({"x": [1.0, np.nan]}, index=["a", "b"])
    assert points(frame, "recomputed")["row"].tolist() == ["a"]


def test_charts_show_each_number_or_say_that_there_is_none():
    rows = means(world(3), {"f1": "F1"}, "{model}", "{metric}{place}")
    none = rows.assign(value=np.nan, low=np.nan, high=np.nan)
    for width in (plots.WIDE, plots.NARROW):
        figure = charts.forest(rows, limits=(0, 1), width=width)
        assert [ax.get_title(loc="left") for ax in figure.axes] == ["F1", "F1, base"]
        assert texts(charts.heat(rows, width=width)) == {f"{v:.2f}" for v in rows["value"]}
    for figure in (charts.forest(none, columns=["F1"]), charts.heat(none)):
        assert "no value" in texts(figure)


def texts(figure):
    return {t.get_text() for ax in figure.axes for t in ax.texts}
