"""People's tables: the paper's rows and columns, and what agrees, is off, or stands alone."""

import dataclasses
import json
import re
import shutil
import subprocess

import pytest

from bedside.write.layouts import LEGEND, Layout, grid, number


def row(row, column, source, value, low=None, high=None, n=None, unscored=None):
    names = ("row", "column", "source", "value", "low", "high", "n", "unscored")
    return dict(zip(names, (row, column, source, value, low, high, n, unscored)))


def test_parts_of_labels_go_across_in_the_order_of_the_headings():
    rows = [
        row(f"{data}: {rater}", measure, "published", value)
        for rater in ("GPT-4", "Experts")
        for data, value in (("A", 0.5), ("B", 0.25))
        for measure in ("accuracy", "F1")
    ]
    made = grid(rows, Layout(row="data: rater", across=("data", "column")))
    assert made.head == [["A", "A", "B", "B"], ["accuracy", "F1", "accuracy", "F1"]]
    assert made.stub == ["rater"]
    assert made.lines[0] == (["GPT-4"], ["0.50", "0.50", "0.25", "0.25"])


@pytest.mark.parametrize(
    "computed, low, high, sign",
    [
        (0.8149, None, None, "="),
        (0.805, None, None, "="),
        (0.8151, None, None, "≠"),
        (0.79, 0.7, 0.9, "≈"),
        (0.79, 0.7, 0.8, "≠"),
        (None, 0.7, 0.8, ""),
    ],
)
def test_a_computed_number_says_how_it_compares(computed, low, high, sign):
    rows = [row("m", "O/E", "published", 0.81), row("m", "O/E", "recomputed", computed, low, high)]
    made = grid(rows)
    assert made.lines[0][1][1].partition(" ")[0].strip("0123456789.[,") == sign
    assert (LEGEND[sign] in made.note) if sign else not made.notes


def test_what_only_agrees_needs_no_line_of_its_own():
    printed = [row("m", f"c{k}", "published", k) for k in range(9)]
    same = [row("m", f"c{k}", "recomputed", k) for k in range(8)]
    made = grid([*printed, *same, row("m", "c8", "recomputed", 9)], Layout(across=("column",)), 0)
    published, recomputed = made.lines
    assert published == (["m", "Published"], [*(f"= {k}" for k in range(8)), "8"])
    assert recomputed == (["m", "Recomputed"], [""] * 8 + ["≠ 9"])


def test_bounds_stand_at_their_number():
    rows = [{**row("m", "C3", "run", 50, 40, 60, 8, 2), "worst": 30, "best": 70}]
    assert [*cells_of(grid(rows, digits=1))] == ["50.0 [40.0, 60.0] (30.0 to 70.0)"]


def test_numbers_of_units_stand_once():
    rows = [row(m, c, "run", 0.5, n=21, unscored=0) for m in "ab" for c in "xy"]
    made = grid(rows)
    assert made.head == [["x", "y"]] and "n = 21; none is unscored." in made.note
    rows[0]["n"] = 20
    assert [cells[-1] for _, cells in grid(rows).lines] == ["20 / 21", "21"]


def test_latex_compiles(tmp_path):
    if not shutil.which("pdflatex"):
        pytest.skip("no pdflatex on PATH (Debian: apt install texlive-latex-recommended)")
    rows = [
        row("[a] 5% & Δ κ ≤ x_1: one", "A, “b” – c", "published", 1.5),
        row("[a] 5% & Δ κ ≤ x_1: one", "A, “b” – c", "run", 2, 1, 3, 4),
        row("~^\\: two", "A, d of 20 to 30 [items]", "run", 2, 1, 3, 4),
    ]
    form = Layout(row="a: b", column="c, d", across=("c", "d"))
    head = r"\documentclass{article}\usepackage{booktabs}\begin{document}"
    text = head + grid(rows, form).latex("Δ # T", "$ { }") + r"\end{document}"
    (tmp_path / "t.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, re.findall(r"^!.*", done.stdout, re.M)


def cells_of(made):
    """The numbers of a grid and of those below it, without columns of n and unscored."""
    for one in (made, *made.below):
        units = [not any(h[:-1]) and h[-1] in ("n", "unscored") for h in zip(*one.head)]
        for _, line in one.lines:
            yield from (c for c, unit in zip(line, units) if c and not unit)


def test_counts_are_guessed_or_named():
    rows = [row("m", "N", "run", 30), row("m", "share", "run", 100), row("k", "share", "run", 95.5)]
    assert [*cells_of(grid(rows, digits=1))] == ["30", "100", "95.5"]
    assert [*cells_of(grid(rows, Layout(counts=("N",)), 1))] == ["30", "100.0", "95.5"]


def test_a_run_counts_what_it_has_without_a_sign():
    rows = [row("m", "pairs", s, v) for s, v in (("published", 246), ("raw", 104), ("run", 8))]
    made = grid(rows, Layout(across=("column", "source")))
    assert [*cells_of(made)] == ["246", "≠ 104", "8"]
    rows[2]["value"] = 246
    assert [*cells_of(grid(rows, Layout(across=("column", "source"))))][2] == "= 246"


def test_numbers_are_rounded_as_they_are_printed_where_enough_are():
    printed = [row(m, "turns", "published", v) for m, v in zip("abc", (10.9, 17.5, 9))]
    made = grid([*printed, row("d", "turns", "run", 2.345, 1.234, 3.456)], digits=3)
    assert [*cells_of(made)] == ["10.9", "17.5", "9.0", "2.3 [1.2, 3.5]"]
    made = grid([*printed[:2], row("d", "turns", "run", 2.345)], digits=3)
    assert [*cells_of(made)][-1] == "2.345"


def blocks():
    rows = [row("A: m", "F1", "published", 0.5), row("A: m", "F1", "raw", 0.75, n=9)]
    rows[-1] |= {"worst": 0.25, "best": 1}
    rows += [row("all: m", "F1", "raw", 1)]
    rows += [row("A: m", "gain", "published", 2), row("A: m", "gain", "raw", 3)]
    gains = Layout(row="data: model", across=("data", "source"))
    overall = Layout(row="data: model", across=("data",), only={"row": "^all"}, then=gains)
    only = {"row": "^(?!all)", "column": "F1$"}
    return rows, Layout(row="data: model", across=("data",), only=only, then=overall)


def test_other_rows_make_tables_of_their_own_below():
    rows, layout = blocks()
    made = grid(rows, layout)
    assert [len(one.lines) for one in (made, *made.below)] == [2, 1, 1]
    assert [*cells_of(made)] == ["0.50", "≠ 0.75 (0.25 to 1.00)", "1.00", "2.00", "≠ 3.00"]
    assert [*cells_of(grid(rows[3:4], layout))] == ["1.00"]  # no empty table for the first


def test_halves_are_rounded_up_wherever_a_number_comes_from():
    raw = 4.0 - 3.955  # 0.04499999999999993; a CSV has 0.045
    for value, digits, told in (
        (raw, 2, "0.05"),
        (0.045, 2, "0.05"),
        (6.25, 1, "6.3"),
        (2.5, 0, "3"),
    ):
        assert number(value, digits) == number(float(f"{value:.10g}"), digits) == told
    assert number(-0.125, 2) == "-0.13" and number(float("inf"), 2) == "inf"
    assert number(None, 2) == "" and number(0.045, None) == "0.045"


def test_labels_in_the_papers_words():
    rows = [row(r, "graded", "published", v) for r, v in (("X", 1), ("Z", None))]
    made = grid(rows, digits=1, words={"Z": "Zed"})
    assert made.lines == [(["X"], ["1.0"]), (["Zed"], [""])]


def test_only_a_recomputed_number_can_differ():
    rows = [row("a", "F1", s, v) for s, v in (("published", 0.5), ("raw", 0.6), ("run", 0.7))]
    assert [cells for _, cells in grid(rows).lines] == [["0.50", "≠ 0.60", "0.70"]]
    apart = Layout(only={"source": "^(?!raw)"}, then=Layout())  # what follows a rule of ours
    assert [*cells_of(grid(rows, apart))] == ["0.50", "0.70", "0.60"]


def test_a_run_of_before_shows_its_numbers_without_the_options_that_went():
    rows = [row("m", c, "published", v) for c, v in (("C1", 47.1), ("C1, marked", 1))]
    rows += [row("m", "C2", "run", 50.5), row("k: x", "C2", "run", 40.5)]
    went = {"marks": {", marked": "*"}, "groups": {"C1": "pairs"}, "order": ["C2"]}
    went |= {"values": {"1": "Yes"}, "own": ["C1"], "best": ["m"], "counts": None}
    about = {"row": "row", "column": "column", "across": ["group", "column"], "only": {}, **went}
    below = {**about, "row": "data: model", "across": None, "then": None}
    kept = json.loads(json.dumps({**about, "only": {"row": "m"}, "then": below}))
    assert sorted(cells_of(grid(rows, Layout.read(kept), 1))) == ["1.0", "40.5", "47.1", "50.5"]
    form = Layout(row="a: b", across=("a",), only={"row": "m"}, then=Layout(counts=("n",)))
    kept = json.loads(json.dumps(dataclasses.asdict(form)))
    assert dataclasses.asdict(Layout.read(kept)) == dataclasses.asdict(form) | {
        "then": kept["then"]
    }
