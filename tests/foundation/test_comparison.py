"""How models did: rows from tables and graded replies, tests between models, the page."""

import re

import numpy as np
import pandas as pd
import pytest

from bedside import BedsideError
from bedside import __main__ as steps
from bedside.publish import comparison, pages
from bedside.publish.comparison import Compared, Study
from bedside.publish.pages import content, models
from bedside.read import paths
from bedside.read.surroundings import here

HOSTILE = "<script>document.title = 'gone'</script><b>{{ 7 * 7 }} $x$"
ITEMS = [f"q-{i}" for i in range(8)]
A = [1, 1, 1, 1, 1, 1, 0, 1]  # alone right five times (q-1 to q-5), b never
B = [1, 0, 0, 0, 0, 0, 0, 1]


def study(name="One", folder=None, of=("sample", "j"), beside="", scores=None, **more):
    """A study of two models; the first four items are in part x, the others in y."""
    rows = [
        (item, model, float(score), "xy"[i // 4])
        for model, mine in (scores or {"a": A, "b": B}).items()
        for i, (item, score) in enumerate(zip(ITEMS, mine))
    ]
    frame = pd.DataFrame(rows, columns=["item", "model", "score", "part"])
    told = {"unit": frame["item"], "title": "question " + frame["item"], "why": "", "main": True}
    frame = frame.assign(**told, truncated=False, link=f"{folder}/e#" + frame["item"])
    values = (100 * frame.groupby("model")["score"].mean()).to_dict() | {"printed": 50}
    measures = pd.DataFrame(
        [(m, "right, %", "run", v, None, None, 8, 0) for m, v in values.items()],
        columns=["model", "measure", "source", *comparison.NUMBERS],
    )
    measures.loc[measures["model"] == "printed", "source"] = "published"
    return Study(name, measures, frame, ["part"], of, f"judge: {of[1]}", beside, folder, **more)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(here, "figures", str(tmp_path))
    made = tmp_path / "runs" / "mine"
    made.mkdir(parents=True)
    return made


def one(rows, **where):
    (found,) = rows[(rows[[*where]] == [*where.values()]).all(axis=1)].to_dict("records")
    return found


def test_profiles_outcomes_failures_and_tests_are_those_counted_by_hand(folder):
    mine = study(folder=folder)
    lost, cut = (
        mine.replies["model"].eq("b") & mine.replies["item"].eq(item) for item in ("q-7", "q-1")
    )
    frame = mine.replies.assign(truncated=cut, why=np.where(lost, "refused", ""))
    frame.loc[lost, "score"] = np.nan
    other = study("Two", folder, scores={"a": A, "b": A})
    made = comparison.compared([Compared("mine", [mine._replace(replies=frame), other])], folder)
    # b: q-0 of q-0 to q-3; nothing of q-4 to q-6, and q-7 is unscored
    x, y = (one(made["profiles"], model="b", study="One", part=p) for p in "xy")
    assert (x["value"], x["n"], x["unscored"]) == (25, 4, 0)
    assert (y["value"], y["n"], y["unscored"]) == (0, 3, 1)
    counts = made["outcomes"].query("model == 'b' and study == 'One'")
    assert set(counts["n"]) == {8}
    counts = counts.set_index("outcome")["replies"].to_dict()
    assert counts == {"refused": 1, "cut at the limit": 1}
    worst = made["failures"].query("model == 'b'")
    assert worst["item"].tolist() == ["q-1", "q-6", "q-2", "q-3", "q-4"]  # q-6 is of Two
    assert worst["right_elsewhere"].tolist() == [1, 0, 1, 1, 1]
    assert worst["link"].tolist()[0] == "e#q-1"
    # seven pairs, five of them discordant and all in favour of a: 2 * 0.5 ** 5
    first, same = (one(made["differences"], study=s) for s in ("One", "Two"))
    assert first["p"] == pytest.approx(0.0625) and first["n"] == 7
    assert first["difference"] == pytest.approx(100 * 5 / 7)
    assert (first["holm"], same["holm"]) == (pytest.approx(0.125), 1)  # over both studies


def test_scores_that_are_no_booleans_have_a_test_of_their_mean(folder):
    scores = {"a": [0.5] * 8, "b": [0.4] * 8}
    mine = study(folder=folder, score="f1", scores=scores)
    (row,) = comparison.compared([Compared("r", [mine])], folder)["differences"].to_dict("records")
    assert row["difference"] == pytest.approx(10) and row["test"] == "permutation"
    assert row["p"] == pytest.approx(2 / 2**8)  # of all sign patterns two are as far


def test_models_of_several_runs_are_named_with_their_run_and_tested_if_runs_are_alike(folder):
    few = study(folder=folder, scores={"a": A[:5]})
    runs = [Compared("mine", [study(folder=folder)]), Compared("later", [few])]
    made = comparison.compared(runs, folder.parent)
    assert [*made["models"].query("source == 'run'")["model"]] == [
        "a (mine)",
        "b (mine)",
        "a (later)",
    ]
    assert len(made["differences"]) == 3
    assert made["failures"]["link"].str.startswith("mine/e#").all()
    assert comparison.lacking(runs) == ["One: later lacks 3 of 8 items: q-5, q-6, q-7"]
    runs[1] = Compared("later", [few._replace(of=("sample", "another judge"))])
    made = comparison.compared(runs, folder.parent)
    assert made["differences"]["pair"].tolist() == ["a (mine) vs b (mine)"]
    assert "none lacks 8 of 8" in comparison.lacking([runs[0], Compared("none", [])])[0]


def test_one_model_without_a_failure_has_neither_failures_nor_tests(folder):
    mine = study(folder=folder, scores={"a": [1] * 8})
    part = models.part(folder, [Compared("r", [mine])])
    assert part["failures"] == part["differences"] == [] and part["names"] == ["a"]
    assert (folder / "models_failures.csv").read_text().count("\n") == 1
    unmeasured = mine._replace(measures=mine.measures.assign(value=None))
    assert not models.part(folder, [Compared("r", [unmeasured])])["drawn"]


def test_measures_are_the_means_of_the_replies_that_tests_take():
    """As the studies declare both, on the committed sample."""
    run = comparison.named("sample")
    assert [s.name for s in run.studies] == [e["name"] for e in paths.papers().values()]
    for s in run.studies:
        main = s.replies[s.replies["main"]].dropna(subset="score")
        mean = main.groupby(["item", "model"])["score"].mean().groupby("model").mean()
        values = s.measures.query("source == 'run'")["value"]
        values = values / np.where(values > 1, 100, 1)
        assert any(v == pytest.approx(mean.iloc[0], abs=0.01) for v in values), s.name
        assert s.measures["source"].eq("published").any(), s.name
        assert len(s.by) == len({*s.by} & {*s.replies}), s.name
        assert s.beside  # the sample is nobody's data


def test_names_are_escaped_on_the_page_and_in_its_files(folder):
    long = "a-provider/a-model-with-a-very-long-name-2026-11-25-thinking-high"
    mine = study(folder=folder, beside=HOSTILE, scores={HOSTILE: A, long: B, "=HYPERLINK(1)": B})
    runs = {name: Compared(name, [mine]) for name in ("mine", "later")}
    page = models.write_compared(folder.parent / "x", [*runs.values()])
    text = page.read_text()
    assert "<script" not in text and "<b>{{" not in text and "&lt;script&gt;" in text
    assert "{{ 7 * 7 }}" in text
    for kind in comparison.KINDS:
        name = "models.csv" if kind == "models" else f"models_{kind}.csv"
        lines = (page.parent / name).read_text().splitlines()
        assert f'href="{name}"' in text and not any(line.startswith("=") for line in lines)
        assert len(lines) > 1 or kind in ("costs", "outcomes")  # nobody was called


def test_a_runs_front_page_opens_on_its_models(folder):
    """Also without the texts of its replies."""
    for paper in paths.papers():
        (folder / paper).symlink_to(paths.FIGURES / "sample" / paper)
    content.Pages(pages.last(paths.FIGURES / "sample"), folder).write()
    text = (folder / "index.html").read_text()
    assert re.search(r"How .*smollm2-135m did", text).start() < text.index("Four studies say")
    assert 'href="explorer.html#id=' in text and (folder / "models_failures.csv").is_file()


@pytest.mark.parametrize(
    "given, told",
    [("", "name two runs or more"), ("a a", "name two runs"), ("mine sample", "'mine'")],
)
def test_what_cant_be_compared_is_told(folder, given, told):
    with pytest.raises(BedsideError, match=told):
        steps.compare(given)
