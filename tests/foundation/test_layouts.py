"""Tables for readers: which parts of labels go where, what a number shows, LaTeX that compiles."""

import re
import shutil
import subprocess

import pytest

from bedside.write.layouts import Layout, grid, number


def row(row, column, source, value, low=None, high=None, n=None, unscored=None):
    names = ("row", "column", "source", "value", "low", "high", "n", "unscored")
    return dict(zip(names, (row, column, source, value, low, high, n, unscored)))


def cells_of(made):
    """The numbers of a table, without columns of n and unscored."""
    units = [h[-1] in ("n", "unscored") for h in zip(*made.head)]
    return [c for _, line in made.lines for c, unit in zip(line, units) if c and not unit]


def test_rows_are_lines_printed_above_computed_and_columns_go_across():
    rows = [row(m, c, s, 0.5) for m in "ab" for s in ("run", "published") for c in ("F1", "kappa")]
    made = grid(rows)
    assert made.head == [["F1", "kappa"]] and made.stub == ["", ""]
    lines = [labels for labels, _ in made.lines]
    assert lines == [[m, s] for m in "ab" for s in ("Published", "This run")]


def test_parts_of_labels_go_across_in_the_order_of_the_headings():
    rows = [
        row(f"{data}: {rater}", measure, "published", value)
        for rater in ("GPT-4", "Experts")
        for data, value in (("A", 0.5), ("B", 0.25))
        for measure in ("accuracy", "F1")
    ]
    made = grid(rows, Layout(row="data: rater", across=("data", "column")))
    assert made.head == [["A", "A", "B", "B"], ["accuracy", "F1", "accuracy", "F1"]]
    assert made.stub == ["rater", ""]
    assert made.lines[0] == (["GPT-4", "Published"], ["0.50", "0.50", "0.25", "0.25"])


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
    assert cells_of(made)[-1].startswith(sign) and (sign in made.note or not sign)
    assert not sign or sign not in grid(rows, legend=False).note


def test_a_run_of_other_models_and_a_simulation_do_not_differ_from_print():
    sources = {"published": 246, "raw": 104, "simulated": 240, "run": 8}
    rows = [row("m", "pairs", s, v) for s, v in sources.items()]
    assert cells_of(grid(rows)) == ["246", "≠ 104", "240", "8"]
    rows[3]["value"] = 246
    assert cells_of(grid(rows))[3] == "= 246"


def test_bounds_stand_at_their_number():
    rows = [{**row("m", "C3", "run", 50.5, 40, 60, 8, 2), "worst": 30, "best": 70}]
    made = grid(rows, Layout(digits=1))
    assert cells_of(made) == ["50.5 [40.0, 60.0] (30.0 to 70.0)"] and "(a to b)" in made.note


def test_numbers_of_units_stand_once():
    rows = [row(m, c, "run", 0.5, n=21, unscored=0) for m in "ab" for c in "xy"]
    made = grid(rows)
    assert made.head == [["x", "y"]] and "n = 21; none is unscored." in made.note
    rows[0]["n"] = 20
    assert [cells[-1] for _, cells in grid(rows).lines] == ["20 to 21", "21"]


def test_whole_numbers_of_a_row_or_column_have_no_decimals():
    rows = [row("m", "N", "run", 30), row("m", "share", "run", 100.5), row("k", "share", "run", 95)]
    assert cells_of(grid(rows, Layout(digits=1))) == ["30", "100.5", "95"]
    rows.append(row("k", "N", "run", 20.5, 10, 30))
    assert cells_of(grid(rows, Layout(digits=1))) == ["30.0", "100.5", "20.5 [10.0, 30.0]", "95.0"]


def test_numbers_are_rounded_as_they_are_printed_where_enough_are():
    printed = [row(m, "turns", "published", v) for m, v in zip("abc", (10.9, 17.5, 9.5))]
    made = grid([*printed, row("d", "turns", "run", 2.345, 1.234, 3.456)], Layout(digits=3))
    assert cells_of(made) == ["10.9", "17.5", "9.5", "2.3 [1.2, 3.5]"]
    made = grid([*printed[:2], row("d", "turns", "run", 2.345)], Layout(digits=3))
    assert cells_of(made)[-1] == "2.345"


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
    rows = [row(r, "graded", "published", v) for r, v in (("X", 1.5), ("Z", None))]
    made = grid(rows, Layout(digits=1), words={"Z": "Zed"})
    assert made.lines == [(["X", "Published"], ["1.5"]), (["Zed", "Published"], [""])]


def test_a_run_of_before_shows_its_numbers_without_the_options_that_went():
    rows = [row("m", c, "published", v) for c, v in (("C1", 47.1), ("C1, marked", 1))]
    rows += [row("m", "C2", "run", 50.5), row("k: x", "C2", "run", 40.5)]
    kept = {"row": "row", "column": "column", "across": ["group", "column"], "only": {"row": "m"}}
    kept |= {"then": {"row": "data: model", "across": None}, "counts": None, "digits": 1}
    assert sorted(cells_of(grid(rows, Layout.read(kept)))) == ["1", "40.5", "47.1", "50.5"]
    assert Layout.read(None) == Layout.read({"across": None, "digits": None}) == Layout()


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
