"""Tables for readers: which parts of labels go where, what a number shows, LaTeX that compiles."""

import re
import shutil
import subprocess

import pytest

from bedside.write.layouts import Layout, grid, number


def row(row, column, source, value, low=None, high=None, n=None, unscored=None, **more):
    names = ("row", "column", "source", "value", "low", "high", "n", "unscored")
    return dict(zip(names, (row, column, source, value, low, high, n, unscored))) | more


def cells_of(rows, *form, **more):
    return [cell for _, line in grid(rows, *form, **more).lines for cell in line if cell]


def test_rows_are_lines_printed_above_computed_and_parts_go_across_in_the_order_of_headings():
    rows = [row(m, c, s, 0.5) for m in "ab" for s in ("run", "published") for c in ("F1", "kappa")]
    made = grid(rows)
    assert made.head == [["F1", "kappa"]] and made.stub == ["", ""]
    lines = [labels for labels, _ in made.lines]
    assert lines == [[m, s] for m in "ab" for s in ("Published", "This run")]
    rows = [
        row(f"{data}: {rater}", measure, "published", value)
        for rater in ("GPT-4", "Experts")
        for data, value in (("A", 0.5), ("B", 0.25))
        for measure in ("accuracy", "F1")
    ]
    made = grid(rows, Layout(row="data: rater", across=("data", "column")), words={"A": "Alpha"})
    assert made.head == [["Alpha", "Alpha", "B", "B"], ["accuracy", "F1", "accuracy", "F1"]]
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
    assert cells_of(rows)[-1].startswith(sign) and (sign in grid(rows).note or not sign)
    assert not sign or sign not in grid(rows, legend=False).note


SOURCES = {"published": 246, "raw": 104, "simulated": 240, "run": 8}
TURNS = [row(m, "turns", "published", v) for m, v in zip("abc", (10.9, 17.5, 9.5))]
MIXED = [row("m", "N", "run", 30), row("m", "share", "run", 100.5), row("k", "share", "run", 95)]
BOUNDS = row("m", "C3", "run", 50.5, 40, 60, worst=30, best=70)


@pytest.mark.parametrize(
    "rows, digits, cells",
    [  # a run of other models and a simulation do not differ from print; whole numbers have no
        # decimals; none has more than the printed ones of its column, if these are several
        ([row("m", "pairs", *s) for s in SOURCES.items()], 2, ["246", "≠ 104", "240", "8"]),
        ([row("m", "p", "published", 2), row("m", "p", "run", 2)], 2, ["2", "= 2"]),
        ([BOUNDS], 1, ["50.5 [40.0, 60.0] (30.0 to 70.0)"]),
        (MIXED, 1, ["30", "100.5", "95"]),
        ([*MIXED, row("k", "N", "run", 20.5)], 1, ["30.0", "100.5", "20.5", "95.0"]),
        (
            [*TURNS, row("d", "turns", "run", 2.345, 1.234, 3.456)],
            3,
            ["10.9", "17.5", "9.5", "2.3 [1.2, 3.5]"],
        ),
        ([*TURNS[:2], row("d", "turns", "run", 2.345)], 3, ["10.900", "17.500", "2.345"]),
    ],
)
def test_numbers_are_shown_as_precisely_as_they_are_known(rows, digits, cells):
    assert cells_of(rows, Layout(digits=digits)) == cells


def test_numbers_of_units_are_told_once_where_all_are_the_same():
    rows = [row(m, c, "run", 0.5, n=21, unscored=0) for m in "ab" for c in "xy"]
    assert grid(rows).head == [["x", "y"]] and "n = 21; none is unscored." in grid(rows).note
    rows[0]["n"] = 20
    assert [cells[-1] for _, cells in grid(rows).lines] == ["20 to 21", "21"]


def test_halves_are_rounded_up_wherever_a_number_comes_from():
    raw = 4.0 - 3.955  # 0.04499999999999993; a CSV has 0.045
    for value, digits, text in (
        (raw, 2, "0.05"),
        (6.25, 1, "6.3"),
        (2.5, 0, "3"),
        (-0.001, 2, "0"),
    ):
        assert number(value, digits) == number(float(f"{value:.10g}"), digits)
        assert float(number(value, digits)) == float(text) and "-" not in number(value, digits)
    assert number(-0.125, 2) == "-0.13" and number(float("inf"), 2) == "inf"
    assert number(None, 2) == "" and number(0.045, None) == "0.045"


def test_a_run_of_before_shows_its_numbers_without_the_options_that_went():
    rows = [row("m", "C1", "published", 47.1), row("k: x", "C2", "run", 40.5)]
    kept = {"across": ["group", "column"], "only": {"row": "m"}, "counts": None, "digits": 1}
    assert sorted(cells_of(rows, Layout.read(kept))) == ["40.5", "47.1"]
    assert Layout.read(None) == Layout.read({"across": None, "digits": None}) == Layout()


def test_latex_compiles(tmp_path):
    if not shutil.which("pdflatex"):
        pytest.skip("no pdflatex on PATH (Debian: apt install texlive-latex-recommended)")
    rows = [
        row("[a] 5% & Δ κ ≤ x_1: one", "A, “b” – c", "published", 1.5),
        row("~^\\: two", "A, d of 20 to 30 [items]", "run", 2, 1, 3, 4),
    ]
    form = Layout(row="a: b", column="c, d", across=("c", "d"))
    head = r"\documentclass{article}\usepackage{booktabs}\begin{document}"
    text = head + grid(rows, form).latex("Δ # T", "$ { }") + r"\end{document}"
    (tmp_path / "t.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, re.findall(r"^!.*", done.stdout, re.M)
