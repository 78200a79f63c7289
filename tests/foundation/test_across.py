"""The studies side by side: numbers of their outputs alone, each on its own scale."""

import csv
import itertools
import json
import re
import shutil
import statistics

import pytest

from bedside import BedsideError
from bedside.build import notebooks
from bedside.publish.pages import ACROSS, across, content
from bedside.read import paths

COLUMNS = "row,column,source,value,low,high,n,unscored".split(",")
TABLES = ("table_side_by_side.csv", "table_two_ways.csv")


def read(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def values(study, table, column, source="published", but=()):
    """{row: number} of a committed table's column."""
    rows = read(paths.FIGURES / "sample" / study / f"{table}.csv")
    mine = [r for r in rows if (r["column"], r["source"]) == (column, source)]
    return {r["row"]: float(r["value"]) for r in mine if r["row"] not in but}


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """The sample's outputs and claims, without what stands side by side."""
    kept = shutil.ignore_patterns("across*", "*.html", "*.png", "*.svg", ".parts", "graded_*")
    shutil.copytree(paths.FIGURES / "sample", tmp_path / "sample", ignore=kept)
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    monkeypatch.delenv("BEDSIDE_RUN", raising=False)
    return tmp_path / "sample"


def executed():
    """The variables of the notebook, run in this process, without its pictures."""
    space = {"display": lambda _: None}
    for cell in notebooks.cells(notebooks.ACROSS):
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and not re.search(r"\bdrawn\(|run\.figure\(", source):
            exec(source, space)
    return space


def test_its_numbers_are_those_of_the_outputs(copy):
    space = executed()
    made = {
        (r["row"].partition(": ")[2], r["column"], r["source"]): float(r["value"])
        for r in read(copy / "across/table_side_by_side.csv")
    }
    pcr = values("cancer_myth", "fig6a_scores", "PCR")
    overlap = values("radiation", "table5_overlap", "Overlap (FF)")
    honest, invents = (
        values("meddialbench", "table9_accuracy", c) for c in ("baseline", "fabricating")
    )
    for measure, scale, found in (
        ("premises fully corrected", "%", pcr),
        ("overlap of two lists", "0 to 1", overlap),
        ("right with an honest patient", "%", honest),
        ("right with a patient who invents symptoms", "%", invents),
    ):
        assert made[measure, f"{scale}: lowest", "published"] == min(found.values())
        assert made[measure, f"{scale}: highest", "published"] == max(found.values())
    # 159 of 585 print as 27.2%, 9 as 1.5%; 42 and 54 of 85 as 49.4% and 63.5%
    right = "premises fully corrected", "right with a patient who invents symptoms"
    ends = [made[m, f"%: {e}", "recomputed"] for m in right for e in ("lowest", "highest")]
    assert ends == pytest.approx([900 / 585, 15900 / 585, 4200 / 85, 5400 / 85])
    # two lists of n entries that share k of them: k / (2n - k) of either, k / n of each
    for value, shared in zip(space["lists"]["value"], space["shared"]["value"]):
        n = 1000
        assert abs(value - shared * n / (2 * n - shared * n)) < 1e-9
    always = values("medhalu", "fig_detection", "macro F1", "recomputed")["HealthQA: always yes"]
    assert made["macro-F1 of models", "0 to 1: trivial answer", "recomputed"] == always


def test_the_order_of_the_studies_is_counted_as_by_hand(copy):
    space = executed()
    found = {}
    for r in read(copy / "across/table_two_ways.csv"):
        found.setdefault(r["row"], []).append(float(r["value"]))
    assert [len(v) for v in found.values()] == [2] * 4
    pcr = values("cancer_myth", "fig6a_scores", "PCR").values()
    overlap = values("radiation", "table5_overlap", "Overlap (FF)").values()
    first = [v[0] for v in found.values()]
    # of 585 whole questions, of which one count prints as each percentage
    whole = [100 - 100 * round(5.85 * v) / 585 for v in pcr]
    assert first[0] == pytest.approx(statistics.median(whole))
    assert first[1] == pytest.approx(statistics.median(100 - 100 * v for v in overlap))
    orders = {
        order
        for order in itertools.permutations(found)
        if any(
            all(a > b for a, b in itertools.pairwise(values))
            for values in itertools.product(*(found[study] for study in order))
        )
    }
    assert len(orders) == len(set(space["orders"]))
    assert {order[0] for order in orders} == {space["name"][p] for p in space["first"]}


def test_shares_are_of_whole_cases_where_these_are_known(copy):
    executed()
    rows = read(copy / "across/table_two_ways.csv")
    made = {r["column"]: float(r["value"]) for r in rows}
    # GPT-5.4 has 70 and 54 of 85 cases right, Claude 66 and 47, DeepSeek 63 and 46, Gemini 77 and
    # 51, Qwen 59 and 42: the median loss is Claude's, 19 of 66 (Qwen's 17 of 59 is a little more),
    # and so is the median of wrong diagnoses, 38 of 85
    lost = sorted([16 / 70, 19 / 66, 17 / 63, 26 / 77, 17 / 59])
    assert lost[2] == 19 / 66
    assert made["right diagnoses lost to invention"] == pytest.approx(1900 / 66, abs=1e-8)
    wrong = statistics.median([85 - 54, 85 - 47, 85 - 46, 85 - 51, 85 - 42])
    assert made["wrong diagnoses, patient invents"] == pytest.approx(100 * wrong / 85)


def test_this_runs_models_change_nothing(copy):
    def seen():
        marks = [rows.to_csv() for rows, *_ in executed()["panels"].values()]
        return marks, [(copy / "across" / f).read_bytes() for f in TABLES]

    before = seen()
    for path in copy.glob("*/*.csv"):
        rows = read(path)
        if path.parent.name != "across" and rows and list(rows[0]) == COLUMNS:
            columns = dict.fromkeys(r["column"] for r in rows)
            with open(path, "a", encoding="utf-8", newline="") as f:
                csv.writer(f, lineterminator="\n").writerows(
                    [f"HealthQA: {name}", c, "run", 77.7, "", "", 3, ""]
                    for name in ("GPT-4", "new")
                    for c in columns
                )
    assert seen() == before


def test_a_fifth_study_changes_nothing(copy, monkeypatch):
    papers = paths.papers() | {"mine": {"name": "Mine"}}
    monkeypatch.setattr(paths, "papers", lambda: papers)
    space = executed()
    assert len(space["told"]) == 4 == len(space["orders"][0])
    manifest = json.loads((copy / "manifest.json").read_text())
    assert not content.Pages(manifest, copy).across  # until the fifth one has outputs, too


def test_a_study_without_outputs_is_named(copy):
    shutil.rmtree(copy / "medhalu")
    with pytest.raises(BedsideError, match="medhalu has no tables; run `make medhalu"):
        executed()


def test_a_number_that_changes_its_reading_stops_it(copy):
    path = copy / "meddialbench/table9_accuracy.csv"
    text = path.read_text(encoding="utf-8")
    changed = re.sub(r"(Qwen,fabricating),(\w+),[\d.]+", r"\1,\2,100", text)
    assert changed != text
    path.write_text(changed, encoding="utf-8")
    told = "notebooks/across_studies.ipynb: .*: every model diagnoses less"
    with pytest.raises(BedsideError, match=told):
        executed()


def test_it_is_of_whole_committed_runs(tmp_path):
    manifest = json.loads((paths.FIGURES / "sample/manifest.json").read_text())
    assert content.Pages(manifest, tmp_path).across
    assert not content.Pages(manifest, tmp_path / "runs" / "mine").across
    entries = manifest["notebooks"]
    one = {k: e for k, e in entries.items() if e["paper"] == "medhalu"}
    assert across.write({**manifest, "notebooks": one}, tmp_path) is None
    limited = {k: {**e, "changed": {"limit": 3}} for k, e in entries.items()}
    assert across.write({**manifest, "notebooks": limited}, tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_its_page_is_the_same_each_time(copy):
    manifest = json.loads((copy / "manifest.json").read_text())
    texts = []
    for _ in range(2):
        assert across.write(manifest, copy) == copy / ACROSS
        texts.append((copy / ACROSS).read_text(encoding="utf-8"))
    assert texts[0] == texts[1]
    page = texts[0]
    assert "data:image/svg+xml;base64," in page and "data:image/png" not in page
    assert "Far too small for medicine" not in page and "<script" not in page
    part = json.loads((copy / "manifest.json").read_text())["across"]
    assert {o["file"] for o in part["outputs"]} >= {*TABLES, "fig_side_by_side.narrow.svg"}
    assert "cancer_myth/fig6a_scores" in part["data"]
