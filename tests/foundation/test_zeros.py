"""A zero has no minus sign, wherever a number that was rounded to it is shown."""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from bedside import checking, explorer
from bedside.publish import pages
from bedside.read import claims
from bedside.write import plots, prose, tables

SIGNED = re.compile(r"[-−]0(?:\.0*)?(?![\d.])")
ROWS = [("change", "A", "recomputed", -0.004, -0.0041, -0.0039, 10, 0)]
SMALL = pd.DataFrame({"row": ["a", "b"], "column": ["x", "x"], "value": [-0.004, 0.5]})


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_no_zero_of_a_table_has_a_sign(form):
    made = tables.for_people(tables.frame(ROWS))
    text = getattr(made, form)("T", "c")
    assert text.count("0.00") == 3 and not SIGNED.search(text)
    assert not SIGNED.search(made.html())


def test_no_zero_of_a_notebook_has_a_sign():
    text = prose.prose(SMALL).to_html()
    assert "0.00" in text and not SIGNED.search(re.sub("<style.*?</style>", "", text, flags=re.S))
    assert "-0.50" in prose.prose(SMALL.assign(value=-0.5)).to_html()


def test_no_zero_of_a_figure_has_a_sign():
    frame = SMALL.assign(column="x", series="x")
    for draw in (plots.bars, plots.changes, plots.heat):
        fig, ax = plt.subplots()
        draw(ax, frame, **({"by": "series"} if draw is plots.bars else {}))
        fig.canvas.draw()
        texts = [text.get_text() for text in ax.texts]
        assert texts and not any(SIGNED.search(text) for text in texts), texts
        plt.close(fig)


def test_no_zero_of_a_page_has_a_sign():
    """In trust cards and in intervals of models."""
    card = {"value": -0.004, "low": -0.3, "high": -0.001}
    folder = Path(pages.__file__).parent
    parts = pages.template(folder / "parts.html.j2")
    assert str(parts.module.interval(card)) == "0.00 [-0.30, 0.00]"
    text = (folder / "models.html.j2").read_text(encoding="utf-8")
    macros = "".join(re.findall(r"{% macro (?:number|precise).*?endmacro %}", text))
    made = parts.environment.from_string(macros + "{{ number(-0.004) }} {{ precise(-0.0) }}")
    assert made.render().split() == ["0.00", "0"]


def test_no_zero_of_a_reading_has_a_sign():
    told = claims.outcome(f"{-0.04:+.1f} points, −0% or -0.00 to -0.05, 3-0", None)[0]
    assert told == "0.0 points, 0% or 0.00 to -0.05, 3-0"


def test_no_zero_of_the_explorer_has_a_sign(browser):
    page = browser.new_page()
    script = (explorer.FOLDER / "script" / "summary.js").read_text(encoding="utf-8")
    line = next(line for line in script.splitlines() if line.startswith("const points"))
    made = page.evaluate(f"() => {{ {line}\n return [-0.0004, -0.1, -0, 0.1].map(points); }}")
    assert made == ["0.0", "-10.0", "0.0", "10.0"]


def test_no_zero_of_a_check_has_a_sign():
    rows = [("T", "A", "x", "0.30", "difference", "B; C"), ("T", "B", "x", "0.501", "share", "")]
    rows += [("T", "C", "x", "0.504", "share", "")]
    columns = ["table", "row", "column", "value", "kind", "of"]
    found = checking.check(pd.DataFrame(rows, columns=columns)).iloc[0]
    assert found["verdict"] == "impossible" and found["would_fit"] == "0.00"
    assert not SIGNED.search(found["arithmetic"])
