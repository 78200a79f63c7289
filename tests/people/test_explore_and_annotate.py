"""The two notebooks beside the papers' ones, and the step that writes the explorer."""

import asyncio
import base64
import gzip
import json
import shutil

from bedside import __main__ as steps
from bedside import annotation, explorer, paths
from bedside import papers as every_paper
from bedside.notebooks import execute


def run_notebook(name, tmp_path, monkeypatch, **given):
    """The executed cells of a top notebook; what it writes goes to tmp_path."""
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    for paper in every_paper.PAPERS:  # the trust cards are read where figures are
        shutil.copytree(
            paths.FIGURES / "sample" / paper,
            tmp_path / "sample" / paper,
            ignore=lambda _, names: [n for n in names if not n.startswith("trust_")],
        )
    execute(paths.NOTEBOOKS / f"{name}.ipynb", tmp_path / "out.ipynb", given)
    return json.loads((tmp_path / "out.ipynb").read_text(encoding="utf-8"))["cells"]


def test_the_explorers_notebook_writes_the_page(tmp_path, monkeypatch):
    cells = run_notebook("explore_failures", tmp_path, monkeypatch, chosen="medhalu radiation")
    page, rest = explorer.read((tmp_path / "sample" / "explorer.html").read_text(encoding="utf-8"))
    assert {r["paper"] for r in page["rows"]} == {
        "medhalu",
        "radiation",
    } and "Content-Security-Policy" in rest
    said = "".join("".join(o.get("text", "")) for c in cells for o in c.get("outputs", []))
    assert f"{len(page['rows'])} replies" in said and "VERDICTS" in said


def test_the_annotation_notebook_runs_without_labels_and_with_some(tmp_path, monkeypatch):
    rows = annotation.rows(
        asyncio.run(every_paper.items("sample", "radiation", tmp_path / "labels"))
    )
    for rater in ("Ann", "Bob"):
        session = annotation.Session(
            rows, "side_effect", rater, size=6, checks=0.0, folder=tmp_path / "labels"
        )
        while not session.done:
            assert (
                session.label("different" if rater == "Ann" or session.at else "same", seconds=2)
                == ""
            )
    cells = run_notebook(
        "annotate",
        tmp_path,
        monkeypatch,
        task="side_effect",
        rater="Cem",
        folder=str(tmp_path / "labels"),
    )
    said = "".join(
        "".join(o.get("text", o.get("data", {}).get("text/plain", "")))
        for c in cells
        for o in c.get("outputs", [])
    )
    assert (
        "2 raters, 6 replies" in said
        and "Ann and Bob" in said
        and "1 replies on which raters differ" in said
        and "prediction-powered" in said
    )


def test_the_step_writes_the_page_of_the_settings(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    steps.explorer({"profile": "sample", "papers": "medhalu", "limit": "2", "mode": "replay"})
    page, _ = explorer.read((tmp_path / "sample" / "explorer.html").read_text(encoding="utf-8"))
    assert {r["item"] for r in page["rows"]} == {
        "mh-01",
        "mh-02",
    } and f"{len(page['rows'])} replies" in capsys.readouterr().out


def test_verification_compares_what_a_page_holds_and_not_how_it_is_packed():
    document = {
        "profile": "sample",
        "about": "",
        "papers": {},
        "judge": {},
        "cards": {},
        "shared": {},
        "rows": [],
    }
    text = explorer.html(document)
    packed = base64.b64encode(gzip.compress(json.dumps(document).encode(), 1)).decode()
    other = explorer.DATA.sub(lambda m: m[0].replace(m[1], packed), text)
    assert other != text and steps._same("sample/explorer.html", text.encode(), other.encode())
    assert not steps._same(
        "sample/explorer.html", text.encode(), explorer.html({**document, "about": "x"}).encode()
    )
    assert not steps._same("sample/explorer.html", None, text.encode()) and not steps._same(
        "sample/a.csv", text.encode(), other.encode()
    )
