"""Figures: the same numbers give the same bytes, and all can be read, without colour too."""

import re
from xml.etree import ElementTree

import pandas as pd
import pytest
from matplotlib.colors import to_rgb

from bedside.read import paths
from bedside.write import plots
from bedside.write.plots import palette
from pictures import faults

SHARES = {"a": [0.0, 0.3, 0.6], "b": [0.75, None, 0.85], "c": [0.87, 0.95, 1.0]}


@pytest.fixture
def matrix():
    cells = [
        {"row": row, "column": f"column {k}", "value": value}
        for row, values in SHARES.items()
        for k, value in enumerate(values)
    ]
    figure, ((ax,),) = plots.figure((4, 3))
    return figure, plots.heat(ax, pd.DataFrame(cells), title="shares", outlined={"b"})


def luminance(colour):
    """Relative luminance as the web's accessibility guidelines define it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear))


def test_digits_in_a_matrix_stand_out_from_their_cells(matrix):
    figure, ax = matrix
    figure.draw_without_rendering()
    shades = list(ax.collections[0].get_facecolors())
    del shades[4]  # the missing share
    assert len(ax.texts) == len(shades) == 8
    for text, shade in zip(ax.texts, shades):
        assert contrast(text.get_color(), shade[:3]) > 4.5, text.get_text()


def test_a_confusion_matrix_is_shaded_by_row():
    _, ((ax,),) = plots.figure((3, 3))
    plots.confusion(ax, [[8, 2], [0, 0]], ["no", "yes"], columns="matcher")
    assert [t.get_text() for t in ax.texts] == ["8", "2", "0", "0"]
    assert ax.collections[0].get_array().ravel().tolist() == [0.8, 0.2, 0, 0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("matcher", "labelled")


@pytest.fixture
def saved(tmp_path):
    """Save a figure twice, both wide and narrow; the files of each by their endings."""
    frame = pd.DataFrame({"row": ["a", "b"], "value": [1.0, 2], "low": [0.5, 1], "high": [2.0, 3]})

    def drawn(width):
        figure, ((ax,),) = plots.figure((width, 2))
        plots.dots(ax, frame.assign(source=["published", "run"]), title="dots")
        plots.legend_below(figure)
        return figure

    for name in ("one", "two"):
        wide, narrow = drawn(plots.WIDE), drawn(plots.NARROW)
        title = "A sentence with its verb that is longer than a narrow screen is wide"
        plots.save(wide, tmp_path / name, title, "judge: none", narrow)
    forms = "png", "svg", "narrow.svg"
    return [{form: tmp_path / f"{name}.{form}" for form in forms} for name in ("one", "two")]


def test_every_colour_of_a_saved_figure_has_another_on_dark_screens(saved):
    light, dark = (
        re.sub(r"@media.*\}\}", "", text := saved[0]["svg"].read_text()),
        re.search(r"@media screen and \(prefers-color-scheme: dark\)\{(.*)\}", text)[1],
    )
    drawn = set(palette.DRAWN.findall(light))
    assert len(drawn) > 5 and "black" not in light
    for what, colour in drawn:
        assert f'[style*="{what}: {colour}"]' in dark
        assert f"{{{what}:{palette.in_dark(colour)}!important}}" in dark
    ElementTree.fromstring(saved[0]["svg"].read_text())


def contrast(one, other):
    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


def test_inks_stand_out_from_their_page():
    for page in (str, palette.in_dark):
        card = page(plots.CARD)
        assert all(contrast(page(c), card) > 4.5 for c in (*[plots.INK, plots.SOFT], *COLOURS))
        assert contrast(page(plots.CONTEXT), card) > 3
        assert contrast(page(plots.MID), card) > 3


COLOURS = plots.RED, plots.BLUE


NUMBERS = {"value": None, "low": None, "high": None}


def words(ax):
    return [t.get_text() for t in ax.texts]


@pytest.mark.parametrize("rows", [0, 2])
def test_a_chart_without_a_number_says_so(tmp_path, rows):
    frame = pd.DataFrame(
        [{"row": "a", "column": f"c{k}", "source": "run", "k": 1, **NUMBERS} for k in range(rows)],
        columns=["row", "column", "source", "k", *NUMBERS],
    )
    shown = frame.assign(series=frame["source"], label="", left=0, right=1)
    figure, axes = plots.figure((12, 6), 2, 4)
    charts = axes.ravel()[:7]
    plots.dots(charts[0], frame)
    plots.bars(charts[1], frame.head(1))
    plots.stacked(charts[2], frame)
    plots.growth(charts[3], frame)
    plots.curves(charts[4], shown, "k", ticks=[1, 10])
    plots.heat(charts[5], frame)
    plots.points(charts[6], shown, "value", "low")
    plots.legend_below(figure)
    plots.save(figure, tmp_path / "none")
    assert all("no value" in " ".join(words(ax)) for ax in charts)


# ---- what can be read at a page's width


@pytest.mark.parametrize("profile", ["sample", pytest.param("public", marks=pytest.mark.slow)])
def test_committed_figures_have_texts_that_can_be_read(profile):
    found = {path.name: faults(path) for path in (paths.FIGURES / profile).glob("*/*.svg")}
    assert len(found) > 20 and {name: f for name, f in found.items() if f} == {}


def test_values_are_moved_apart_as_little_as_needed():
    assert plots.apart([1, 5, 9], 2) == [1, 5, 9]
    assert plots.apart([1, 2], 2) == [0.5, 2.5]
    # 0 and 1 move to -0.5 and 1.5, which touches 2: their mean is 1, one to each side of it
    assert plots.apart([0, 1, 2, 20], 2) == [-1, 1, 3, 20]


def test_losses_and_gains_have_colours_and_the_worst_of_a_column_a_frame():
    values = {"a": (-20.4, 10.0), "b": (-0.2, None), "c": (5.0, -3.0)}
    rows = [
        {"row": row, "column": c, "value": v}
        for row, each in values.items()
        for c, v in zip("xy", each)
    ]
    _, ((ax,),) = plots.figure((4, 3))
    plots.changes(ax, pd.DataFrame(rows))
    assert [t.get_text() for t in ax.texts] == ["\u221220", "+10", "0", "+5", "\u22123"]
    assert [t.get_text() for t in ax.texts if t.get_fontweight() == "bold"] == [
        "\u221220",
        "\u22123",
    ]
    shades = ax.collections[0]
    ax.figure.draw_without_rendering()
    red, blue = shades.get_facecolors()[:2, :3]
    assert red[0] > red[2] and blue[2] > blue[0] and len(ax.patches) == 2
