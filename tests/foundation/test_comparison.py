"""How models did: rows from tables and graded replies, tests between models, the page."""

import html
import re

import numpy as np
import pandas as pd
import pytest

from bedside import BedsideError
from bedside import __main__ as steps
from bedside.publish import comparison, pages
from bedside.publish.comparison import Compared, Study
from bedside.publish.pages import content, models
from bedside.read import findings, paths
from bedside.read.surroundings import here

HOSTILE = "<script>document.title = 'gone'</script><b>{{ 7 * 7 }} $x$"
ITEMS = [f"q-{i}" for i in range(8)]
A = [1, 1, 1, 1, 1, 1, 0, 1]  # alone right five times (q-1 to q-5), b never
B = [1, 0, 0, 0, 0, 0, 0, 1]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(here, "figures", str(tmp_path))
    made = tmp_path / "runs" / "mine"
    made.mkdir(parents=True)
    return made


@pytest.fixture
def study(folder):
    """A function: a study of models with eight scores; the first four items are in part x."""

    def make(name="One", beside="", score=comparison.RIGHT, **scores):
        frame = pd.DataFrame({"item": ITEMS, "part": [*"xxxxyyyy"], **(scores or {"a": A, "b": B})})
        frame = frame.melt(["item", "part"], var_name="model", value_name="score")
        frame = frame.astype({"score": float})
        values = 100 * frame.groupby("model")["score"].mean()
        measures = values.rename("value").reset_index().assign(measure="right, %", source="run")
        measures = measures.assign(low=None, high=None, n=8, unscored=0)
        printed = measures.head(1).assign(model="printed", source="published")
        frame = frame.assign(unit=frame["item"], why="", main=True, truncated=False)
        frame = frame.assign(title="question", quote="answer to " + frame["item"])
        frame["link"] = f"{folder}/e#" + frame["item"]
        measures, of = pd.concat([measures, printed]), ("sample", "j")
        return Study(name, measures, frame, ["part"], of, "judge: j", beside, folder, score)

    return make


def test_profiles_outcomes_failures_and_tests_are_those_counted_by_hand(study, folder):
    mine, other = study(), study("Two", a=A, b=A)
    frame = mine.replies.set_index(["model", "item"], drop=False)
    frame.loc[("b", "q-7"), ["score", "why"]] = np.nan, "refused"
    frame.loc[("b", "q-1"), "truncated"] = True
    mine = mine._replace(replies=frame.reset_index(drop=True))
    made = comparison.compared([Compared("mine", [mine, other])], folder)
    # b: q-0 of q-0 to q-3; nothing of q-4 to q-6, and q-7 is unscored
    found = made["profiles"].query("model == 'b' and study == 'One'").set_index("part")
    assert found[["value", "n", "unscored"]].to_numpy().tolist() == [[25, 4, 0], [0, 3, 1]]
    counts = made["outcomes"].query("model == 'b' and study == 'One'")
    counts = counts[["outcome", "replies", "n"]].to_numpy().tolist()
    assert sorted(counts) == [["cut at the limit", 1, 8], ["refused", 1, 8]]
    worst = made["failures"].query("model == 'b'")
    assert worst["item"].tolist() == ["q-1", "q-6", "q-2", "q-3", "q-4"]  # q-6 is of Two
    assert worst["right_elsewhere"].tolist() == [1, 0, 1, 1, 1]
    assert worst["link"].tolist()[0] == "e#q-1"
    # seven pairs, five of them discordant and all in favour of a: 2 * 0.5 ** 5; Holm's over both
    tests = made["differences"].set_index("study")[["difference", "n", "p", "holm"]]
    assert tests.loc["One"].tolist() == pytest.approx([100 * 5 / 7, 7, 0.0625, 0.125])
    assert tests.loc["Two", "holm"] == 1


def test_scores_that_are_no_booleans_have_a_test_of_their_mean(study, folder):
    runs = [Compared("r", [study(score="f1", a=[0.5] * 8, b=[0.4] * 8)])]
    (row,) = comparison.compared(runs, folder)["differences"].to_dict("records")
    assert row["difference"] == pytest.approx(10) and row["test"] == "permutation"
    assert row["p"] == pytest.approx(2 / 2**8)  # of all sign patterns two are as far


def test_models_of_several_runs_are_named_with_their_run_and_tested_if_runs_are_alike(
    study, folder
):
    few = study(a=A)
    few = few._replace(replies=few.replies.head(5))
    runs = [Compared("mine", [study()]), Compared("later", [few])]
    made = comparison.compared(runs, folder.parent)
    computed = made["models"].query("source == 'run'")
    assert [*computed["model"]] == ["a (mine)", "b (mine)", "a (later)"]
    assert len(made["differences"]) == 3
    assert made["failures"]["link"].str.startswith("mine/e#").all()
    assert comparison.lacking(runs) == ["One: later lacks 3 of 8 items: q-5, q-6, q-7"]
    runs[1] = Compared("later", [few._replace(of=("sample", "another judge"))])
    made = comparison.compared(runs, folder.parent)
    assert made["differences"]["pair"].tolist() == ["a (mine) vs b (mine)"]
    assert "none lacks 8 of 8" in comparison.lacking([runs[0], Compared("none", [])])[0]


def test_measures_are_the_means_of_the_replies_that_tests_take():
    """As the studies declare both, on the committed sample."""
    run = comparison.named("sample")
    assert [s.name for s in run.studies] == [e["name"] for e in paths.papers().values()]
    for s in run.studies:
        main = s.replies[s.replies["main"]].dropna(subset="score")
        mean = main.groupby(["model", "item"])["score"].mean().groupby("model").mean().iloc[0]
        values = s.measures.query("source == 'run'")["value"]
        values = values / (100 if values.max() > 1 else 1)
        assert np.isclose(values, mean, rtol=0, atol=0.01).any(), s.name
        assert "published" in {*s.measures["source"]} and {*s.by} <= {*s.replies} and s.beside


def test_names_are_escaped_failures_quoted_and_of_what_has_no_score_nothing_is_said(study, folder):
    scores = {HOSTILE: A, "=HYPERLINK(1)": B, "n": [np.nan] * 8}
    mine = study(beside=HOSTILE, **scores)
    mine.measures.loc[mine.measures["model"] == "n", ["value", "n"]] = [None, 0]
    page = models.write_compared(folder.parent / "x", [Compared(k, [mine]) for k in ("r", "later")])
    text = page.read_text()
    assert "<script" not in text and "<b>{{" not in text and "&lt;script&gt;" in text
    assert "{{ 7 * 7 }}" in text and "nothing is said about it" in text
    assert "No failure" not in text and "<blockquote>answer to " in text and "score 0%" in text
    for kind in comparison.KINDS:
        name = "models.csv" if kind == "models" else f"models_{kind}.csv"
        lines = (page.parent / name).read_text().splitlines()
        assert f'href="{name}"' in text and not any(line.startswith("=") for line in lines)
        assert len(lines) > 1 or kind in ("costs", "outcomes")  # nobody was called


def test_one_model_without_a_failure_has_neither_failures_nor_tests(study, folder):
    mine = study(a=[1] * 8)
    mine = mine._replace(measures=mine.measures.assign(value=None))
    part = models.part(folder, [Compared("r", [mine])])
    assert part["failures"] == part["differences"] == [] and part["names"] == ["a"]
    assert (folder / "models_failures.csv").read_text().count("\n") == 1 and not part["drawn"]


def test_a_runs_front_page_opens_on_its_models_and_has_no_findings(folder):
    """Also without the texts of its replies."""
    manifest, paper = pages.last(paths.FIGURES / "public"), "radiation"
    entries = {n: e for n, e in manifest["notebooks"].items() if e["paper"] == paper}
    (folder / paper).symlink_to(paths.FIGURES / "public" / paper)
    content.Pages({**manifest, "notebooks": entries}, folder).write()
    told = [f.finding for f in findings.load(paper)]
    for name in ("index.html", f"{paper}.html", "claims.html"):
        text = html.unescape((folder / name).read_text())
        assert told and not any(finding in text for finding in told)
    text = (folder / "index.html").read_text()
    assert re.search(r"How .*smollm2-135m did", text).start() < text.index("Four studies report")
    assert 'href="explorer.html#id=' in text and (folder / "models_failures.csv").is_file()
    changed = {n: e | {"changed": {"limit": 3}} for n, e in entries.items()}
    pages_of = content.Pages({**manifest, "notebooks": changed}, folder.parent.parent)
    assert pages_of.findings == {paper: []}  # of a profile with other settings


@pytest.mark.parametrize(
    "given, told",
    [("", "name two runs or more"), ("a a", "name two runs"), ("mine sample", "'mine'")],
)
def test_what_cant_be_compared_is_told(folder, given, told):
    with pytest.raises(BedsideError, match=told):
        steps.compare(given)
