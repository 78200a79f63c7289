"""Tables for readers: which parts of labels go where, what a number shows, LaTeX that compiles."""

import re
import shutil
import subprocess
import tomllib
from itertools import product
from pathlib import Path

import pytest

from bedside.write.layouts import Layout, grid, number

SHOWN = tomllib.loads(Path(__file__).with_name("layouts.toml").read_text("utf-8"))["shown"]


def rows_of(*rows, **more):
    """Rows of a table; `more` is in each."""
    names = ("row", "column", "source", "value", "low", "high", "worst", "best")
    empty = dict.fromkeys([*names, "n", "unscored"])
    return [{**empty, **dict(zip(names, row)), **more} for row in rows]


def cells_of(table):
    return [cell for _, line in table.lines for cell in line if cell]


@pytest.mark.parametrize("case", SHOWN, ids=lambda case: case["what"])
def test_a_number_is_shown_as_precisely_as_it_is_known_and_says_how_it_compares(case):
    rows, layout = rows_of(*case["rows"]), Layout(digits=case.get("digits", 2))
    assert cells_of(grid(rows, layout)) == case["cells"]
    signs = {cell[0] for cell in case["cells"]} & {*"=≈≠"}
    assert signs == {*"=≈≠"} & {*grid(rows, layout).note}
    assert not signs & {*grid(rows, layout, legend=False).note}


def test_rows_are_lines_printed_above_computed_and_parts_go_across_in_the_order_of_headings():
    made = grid(rows_of(*product("ab", ("F1", "kappa"), ("run", "published"), [0.5])))
    assert made.head == [["F1", "kappa"]] and made.stub == ["", ""]
    assert [line for line, _ in made.lines] == [
        *map(list, product("ab", ("Published", "This run")))
    ]
    of_raters = [
        (f"{data}: {rater}", measure, "published", value)
        for rater in ("GPT-4", "Experts")
        for data, value in (("A", 0.5), ("B", 0.25))
        for measure in ("accuracy", "F1")
    ]
    layout = Layout(row="data: rater", across=("data", "column"))
    made = grid(rows_of(*of_raters), layout, words={"A": "Alpha"})
    assert made.head == [["Alpha", "Alpha", "B", "B"], ["accuracy", "F1", "accuracy", "F1"]]
    assert made.stub == ["rater", ""]
    assert made.lines[0] == (["GPT-4", "Published"], ["0.50", "0.50", "0.25", "0.25"])


def test_numbers_of_units_are_told_once_where_all_are_the_same():
    rows = rows_of(*product("ab", "xy", ["run"], [0.5]), n=21, unscored=0)
    assert grid(rows).head == [["x", "y"]] and "n = 21; none is unscored." in grid(rows).note
    rows[0]["n"] = 20
    assert [cells[-1] for _, cells in grid(rows).lines] == ["20 to 21", "21"]


@pytest.mark.parametrize(
    "value, digits, text",  # 0.04499999999999993, which a CSV has as 0.045
    [(4.0 - 3.955, 2, "0.05"), (6.25, 1, "6.3"), (2.5, 0, "3"), (-0.001, 2, "0.00")]
    + [(-0.125, 2, "-0.13"), (float("inf"), 2, "inf"), (None, 2, ""), (0.045, None, "0.045")],
)
def test_halves_are_rounded_up_wherever_a_number_comes_from(value, digits, text):
    assert number(value, digits) == text
    assert value is None or number(float(f"{value:.10g}"), digits) == text


def test_a_run_of_before_shows_its_numbers_without_the_options_that_went():
    rows = rows_of(("m", "C1", "published", 47.1), ("k: x", "C2", "run", 40.5))
    kept = {"across": ["group", "column"], "only": {"row": "m"}, "counts": None, "digits": 1}
    assert sorted(cells_of(grid(rows, Layout.read(kept)))) == ["40.5", "47.1"]
    assert Layout.read(None) == Layout.read({"across": None, "digits": None}) == Layout()


def test_latex_compiles(tmp_path):
    if not shutil.which("pdflatex"):
        pytest.skip("no pdflatex on PATH (Debian: apt install texlive-latex-recommended)")
    rows = rows_of(
        ("[a] 5% & Δ κ ≤ x_1: one", "A, “b” – c", "published", 1.5),
        ("~^\\: two", "A, d of 20 to 30 [items]", "run", 2, 1, 3),
    )
    form = Layout(row="a: b", column="c, d", across=("c", "d"))
    head = r"\documentclass{article}\usepackage{booktabs}\begin{document}"
    text = head + grid(rows, form).latex("Δ # T", "$ { }") + r"\end{document}"
    (tmp_path / "t.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, re.findall(r"^!.*", done.stdout, re.M)
