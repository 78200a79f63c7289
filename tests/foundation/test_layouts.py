"""People's tables: the paper's rows and columns, and what agrees, is off, or stands alone."""

import re
import shutil
import subprocess

import pytest

from bedside.layouts import BOUNDS, LEGEND, Layout, grid

HOSTILE = "<script>alert(1)</script>"


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
    assert made.notes == ["Every number is as printed."]
    assert '<th colspan="2">A</th>' in made.html() and '<th rowspan="2">rater</th>' in made.html()


def test_a_label_without_the_separator_has_empty_later_parts():
    rows = [row("C1", "O/E", "run", 1), row("C1", "O/E, a model", "run", 2)]
    made = grid(rows, Layout(column="measure, model", across=("measure",)))
    assert made.lines == [(["C1", ""], ["1.00"]), (["C1", "a model"], ["2.00"])]


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


def test_numbers_have_the_decimals_of_their_printed_column():
    rows = [
        row(m, c, s, v)
        for s, values in (("published", (10.9, 0.732)), ("recomputed", (10.94, 0.7324)))
        for m in ("x", "y")
        for c, v in zip(("turns", "coverage"), values)
    ]
    cells = [cell for _, line in grid(rows, digits=3).lines for cell in line]
    assert [c for c in cells if c.startswith("=")] == ["= 10.940", "= 0.732"] * 2


def test_what_only_agrees_needs_no_line_of_its_own():
    printed = [row("m", f"c{k}", "published", k) for k in range(9)]
    same = [row("m", f"c{k}", "recomputed", k) for k in range(8)]
    made = grid([*printed, *same, row("m", "c8", "recomputed", 9)], Layout(across=("column",)), 0)
    published, recomputed = made.lines
    assert published == (["m", "Published"], [*(f"= {k}" for k in range(8)), "8"])
    assert recomputed == (["m", "Recomputed"], [""] * 8 + ["≠ 9"])


def test_a_recomputed_column_stands_in_the_lines_of_the_printed_ones():
    rows = [
        row("m", "F1", "published", 0.5),
        row("m", "F1 of the means", "recomputed", 0.6),
        row("tiny", "F1", "run", 0.1, 0, 0.2),
        row("tiny", "F1 of the means", "run", 0.2),
        row("tiny", "p", "run", 0.3),
    ]
    made = grid(rows, Layout(across=("column",)))
    assert made.head == [["F1", "F1 of the means †", "p"]]
    assert made.lines == [
        (["m", "Published"], ["0.50", "0.60", ""]),
        (["tiny", "This run"], ["0.10 [0.00, 0.20]", "0.20", "0.30"]),
    ]
    assert made.notes == ["†: recomputed (in lines of this run: its own)."]
    both = grid([*rows, row("m", "F1 of the means", "published", 0.7)], Layout(across=("column",)))
    assert [labels for labels, _ in both.lines[:2]] == [["m", "Published"], ["m", "Recomputed"]]
    more = [row("m", "p", "run", 0.4), row("m", "k", "raw", 0.7)]
    own = grid([*rows, *more], Layout(across=("column",)))
    assert own.lines[1:3] == [
        (["m", "From raw data"], ["", "", "", "0.70"]),
        (["m", "This run"], ["", "", "0.40", ""]),
    ]


def test_marks_and_bounds_stand_at_their_number():
    rows = [
        row("m", "C1", "published", 47.1),
        row("m", "C1, marked", "published", 1),
        row("m", "C2", "published", 51.8),
        row("m", "C2, marked", "published", 0),
        row("m", "C3", "run", 50, 40, 60, 8, 2),
        row("m", f"C3{BOUNDS}", "run", None, 30, 70, 8, 2),
    ]
    made = grid(rows, Layout(across=("column",), marks={", marked": "*"}), 1)
    assert made.lines[0][1][:2] == ["47.1*", "51.8"]
    assert made.lines[1][1][2] == "50.0 [40.0, 60.0] (30.0 to 70.0)"
    assert "if what is unscored were worst, and best" in made.note


def test_numbers_of_units_stand_once():
    rows = [row(m, c, "run", 0.5, n=21, unscored=0) for m in "ab" for c in "xy"]
    made = grid(rows)
    assert made.head == [["x", "y"]] and "n = 21; none is unscored." in made.note
    rows[0]["n"] = 20
    assert [cells[-1] for _, cells in grid(rows).lines] == ["20 / 21", "21"]


def test_a_sparse_table_keeps_a_line_for_each_number():
    rows = [row(f"r{k}", f"c{k}", "published", k) for k in range(5)]
    assert len(grid(rows).lines) == 5


def test_whole_percentages_keep_their_decimals_and_counts_have_none():
    rows = [row("m", "a", "run", 80.0), row("m", "b", "run", 68.2), row("m", "replies", "run", 85)]
    rows += [row("o", "a", "run", 52.9), row("o", "b", "run", 60.0), row("o", "replies", "run", 90)]
    shown = [cell for _, cells in grid(rows, digits=1).lines for cell in cells]
    assert shown == ["80.0", "68.2", "85", "52.9", "60.0", "90"]


def test_hostile_labels_stay_text():
    made = grid([row(HOSTILE, HOSTILE, "run", 1)])
    for text in (made.html(), made.markdown(HOSTILE, HOSTILE)):
        assert "<script" not in text.replace("\\<script", "")


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
