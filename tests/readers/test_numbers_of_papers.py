"""Printed numbers of any paper: what each check says by hand, in any convention, and of faults."""

import csv
import re
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

import bedside
import printed_tables
from bedside import BedsideError, checking
from bedside import __main__ as steps
from bedside.build import notebooks
from bedside.read import paths
from bedside.read.surroundings import here

COLUMNS = ["table", "row", "column", "value", "n", "kind", "of"]
EXAMPLES = paths.DATA / "sample/check"
WRONG = ["impossible", "only if"]


def cases():
    """Each block of checks.txt: its rows, and what the check of the last one says."""
    text = Path(__file__).with_name("checks.txt").read_text(encoding="utf-8")
    for block in text.split("\n\n")[1:]:
        *lines, said = (line for line in block.splitlines() if not line.startswith("# "))
        rows = [("T", *row) for row in csv.reader(lines)]
        yield pytest.param(rows, *map(str.strip, said[1:].split("|")), id=" // ".join(lines))


def checked(rows):
    """The checks of rows; a row may leave out its table."""
    filled = [row if len(row) == 7 else ("T", *row) for row in rows]
    return bedside.check(pd.DataFrame(filled, columns=COLUMNS))


def last(rows):
    """The check that is about the last of these rows."""
    found = checked(rows)
    shared = found[found["kind"] == "rows that share positives"]
    about = found[found["place"].str.contains(rf"\brow {len(rows)}\b")]
    return next(made.iloc[0] for made in (shared, about, found) if len(made))


@pytest.mark.parametrize("rows, verdict, only_if, fits", [*cases()])
def test_a_check_by_hand(rows, verdict, only_if, fits):
    made = last(rows)
    assert made["verdict"] == verdict, made.to_dict()
    assert only_if in made["only_if"] and fits in made["arithmetic"], made.to_dict()


def assert_honest(rows):
    found = checked(rows)
    bad = found[found["verdict"].isin(WRONG)]
    assert bad.empty, (rows, bad["arithmetic"].tolist())
    return {*zip(found["kind"], found["verdict"])}


KINDS = "share count total mean sd difference ratio kappa p interval".split()
KINDS += ["mean of rows", "scores of one matrix", "rows that share positives"]


@pytest.mark.parametrize(
    "tables", [3, pytest.param(400, marks=pytest.mark.slow)], ids=["few", "four hundred"]
)
def test_no_honest_table_is_called_wrong(tables):
    """Nor one of which nothing but its numbers is left."""
    rng, seen = np.random.default_rng(tables), set()
    for at in range(tables):
        rows = printed_tables.table(rng)
        seen |= assert_honest(rows)
        if at % 3 == 0:
            assert_honest([(*r[:4], "", *r[5:]) for r in rows])
    assert {kind for kind, verdict in seen if verdict == "possible"} == {*KINDS}


@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
def test_averages_over_classes_and_folds_are_never_impossible(average):
    """Whatever they are called, with and without the number of classes."""
    rng = np.random.default_rng(5)
    for _ in range(8):
        classes, folds = int(rng.integers(2, 6)), []
        for _ in range(int(rng.integers(1, 4))):
            truth, said = rng.choice(classes, (2, 40), p=rng.dirichlet(np.ones(classes)))
            said = np.where(rng.random(40) < rng.random(), truth, said)
            how = {"labels": range(classes), "average": average, "zero_division": 0}
            made = metrics.precision_recall_fscore_support(truth, said, **how)[:3]
            kappa = metrics.cohen_kappa_score(truth, said) if len({*truth, *said}) > 1 else 0
            folds.append([*made, metrics.accuracy_score(truth, said), kappa])
        named = f"{average} " if average != "micro" and rng.random() < 0.5 else ""
        kinds = [f"{named}precision", f"{named}recall", f"{named}f1", "accuracy", "kappa"]
        of = f"classes={classes}" if rng.random() < 0.5 and classes > 2 else ""
        rows = [("J", k, f"{v:.3f}", "", k, of) for k, v in zip(kinds, np.mean(folds, axis=0))]
        assert "impossible" not in {*checked(rows)["verdict"]}, (rows, classes)


@pytest.mark.parametrize(
    "tables, least", [(6, 0.4), pytest.param(1000, 0.5, marks=pytest.mark.slow)]
)
def test_slips_are_found(tables, least):
    """One digit changed: by leading digits often, by the last as far as a check's power goes."""
    rng, found = np.random.default_rng(1), []
    for _ in range(tables):
        rows, _ = printed_tables.with_a_slip(printed_tables.table(rng), rng)
        found.append(not {*WRONG}.isdisjoint(checked(rows)["verdict"]))
    assert np.mean(found) > least


FAULTS = tomllib.loads(Path(__file__).with_name("checks_faults.toml").read_text("utf-8"))["faults"]


@pytest.mark.parametrize("lines, told", FAULTS)
def test_faults_are_told_by_line_and_column(lines, told, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(f"{','.join(COLUMNS)}\n{lines}\n", encoding="utf-8")
    with pytest.raises(BedsideError, match=re.escape(told)):
        bedside.check(path)


def test_a_frame_keeps_the_printed_digits_and_a_search_its_time():
    with pytest.raises(BedsideError, match="row 1, column value"):
        checked([("A", "x", 0.5, "10", "share", "")])
    rows = [("J", k, "0.75", "40", k, "") for k in ("accuracy", "precision", "f1")]
    made = pd.DataFrame([("T", *row) for row in rows], columns=COLUMNS)
    assert bedside.check(made, seconds=0)["verdict"].tolist() == ["not testable"]


def test_the_examples_have_the_slips_that_the_documentation_tells(tmp_path, monkeypatch):
    made = bedside.check(EXAMPLES / "six_lines.csv")
    assert made["verdict"].tolist() == ["impossible"] * 2 + ["possible"] * 2
    assert made["row"].tolist()[:2] == ["Plover", "Heron as a judge"]
    of_papers = {"chest_reports": (41, 3), "report_classifiers": (11, 0), "two_annotators": (30, 2)}
    for name, told in of_papers.items():
        made = bedside.check(EXAMPLES / f"papers/{name}.csv")["verdict"].value_counts()
        assert (made["possible"], made.get("only if", 0)) == told and made.sum() == sum(told)
    monkeypatch.chdir(tmp_path)
    path = checking.template()
    assert {row["kind"] for row in csv.DictReader(path.open())} == {*checking.KINDS}
    assert {*bedside.check(path)["verdict"]} == {"possible"}
    with pytest.raises(BedsideError, match="exists already"):
        checking.template()
    text = (paths.ROOT / "docs/check.md").read_text(encoding="utf-8")
    lines = (EXAMPLES / "every_kind.csv").read_text(encoding="utf-8").splitlines()
    assert all(f"`{kind}`" in text for kind in checking.KINDS)
    assert {*re.findall(r"^Table \d,.*$", text, re.M)} <= {*lines}


HOSTILE = "<script>alert(1)</script>"


def test_the_command_writes_a_page_that_escapes_what_the_file_says(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(here, "figures", str(tmp_path / "figures"))
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.csv"
    path.write_text(f"{','.join(COLUMNS)}\nT,{HOSTILE},=x,70.1%,48,share,\n", encoding="utf-8")
    steps.check_numbers("mine.csv")
    folder = tmp_path / "figures/checked/mine"
    assert "1 impossible" in capsys.readouterr().out
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert HOSTILE not in page and "&lt;script&gt;" in page and "Content-Security-Policy" in page
    assert "57 of 1001" in page  # of all shares with a decimal so many are some of 48
    with open(folder / "checks.csv", newline="", encoding="utf-8") as f:
        (row,) = csv.DictReader(f)
    assert row["verdict"] == "impossible" and not row["column"].startswith("=")
    with pytest.raises(BedsideError, match="make check NUMBERS="):
        steps.check_numbers("")
    with pytest.raises(BedsideError, match="Did you mean mine.csv"):
        steps.check_numbers("mien.csv")


@pytest.mark.slow
def test_the_notebook_shows_the_two_slips(tmp_path, monkeypatch):
    monkeypatch.setattr(here, "figures", str(tmp_path))
    notebooks.execute(paths.NOTEBOOKS / "check_a_paper.ipynb", tmp_path / "out.ipynb", {})
    assert "2 impossible, 2 possible" in (tmp_path / "out.ipynb").read_text(encoding="utf-8")
    assert (tmp_path / "checked/six_lines/index.html").is_file()
