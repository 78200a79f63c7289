"""Figures: the same numbers give the same bytes, and matrices stay readable without colour."""

import pandas as pd
import pytest
from matplotlib.colors import to_rgb

from bedside import plots

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
        dark, light = sorted([luminance(text.get_color()), luminance(shade[:3])])
        assert (light + 0.05) / (dark + 0.05) > 4.5, text.get_text()


def test_a_matrix_keeps_its_rows_labels_and_gaps(matrix):
    figure, ax = matrix
    assert [t.get_text() for t in ax.texts] == [
        f"{value:.2f}" for values in SHARES.values() for value in values if value is not None
    ]
    assert [t.get_text() for t in ax.get_yticklabels()] == list(SHARES)
    assert {t.get_rotation() for t in [*ax.get_xticklabels(), *ax.get_yticklabels()]} == {0}
    bold = [t.get_text() for t in ax.texts if t.get_fontweight() == "bold"]
    assert bold == ["0.75", "0.85"] and len(ax.patches) == 1
    assert len(figure.axes) == 1 and ax.get_title(loc="left") == "shares"  # no colour bar


def test_a_confusion_matrix_is_shaded_by_row():
    _, ((ax,),) = plots.figure((3, 3))
    plots.confusion(ax, [[8, 2], [0, 0]], ["no", "yes"], columns="matcher")
    assert [t.get_text() for t in ax.texts] == ["8", "2", "0", "0"]
    assert ax.collections[0].get_array().ravel().tolist() == [0.8, 0.2, 0, 0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("matcher", "labelled")


def test_the_same_numbers_give_the_same_bytes(tmp_path):
    frame = pd.DataFrame({"row": ["a", "b"], "value": [1.0, 2], "low": [0.5, 1], "high": [2.0, 3]})
    made = []
    for name in ("one", "two"):
        figure, ((ax,),) = plots.figure((4, 2))
        plots.dots(ax, frame.assign(source=["published", "run"]), title="dots")
        plots.legend_below(figure)
        plots.save(figure, tmp_path / name, "judge: none")
        made.append([(tmp_path / f"{name}.{suffix}").read_bytes() for suffix in ("png", "svg")])
    assert made[0] == made[1]


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


def test_a_plane_names_what_has_no_place():
    rates = {"x": [50.0, None], "y": [20.0, 30.0]}
    rows = [
        {"row": row, "column": c, "source": "run", "value": v, "low": v, "high": v}
        for c, values in rates.items()
        for row, v in zip(("there", "lost"), values)
    ]
    _, ((ax,),) = plots.figure((4, 4))
    plots.plane(ax, pd.DataFrame(rows).assign(label="", shape="s", origin=""), "x", "y")
    (said,) = [w for w in words(ax) if "no value" in w]
    assert said.endswith("lost")
