"""The two notebooks beside the papers' ones, and the step that writes the explorer."""

import base64
import gzip
import json
import shutil

import pytest

import rater_pages
from bedside import BedsideError, annotation, explorer, stats
from bedside import __main__ as steps
from bedside.build.notebooks import execute
from bedside.explorer import counts
from bedside.publish import judged_items
from bedside.read import paths
from bedside.read.surroundings import here
from judged import kept_in


def run_notebook(name, tmp_path, monkeypatch, **given):
    """The executed cells of a top notebook, and what they say; what it writes goes to tmp_path."""
    monkeypatch.setattr(here, "figures", str(tmp_path))
    kept_in(tmp_path)
    execute(paths.NOTEBOOKS / f"{name}.ipynb", tmp_path / "out.ipynb", given)
    cells = json.loads((tmp_path / "out.ipynb").read_text(encoding="utf-8"))["cells"]
    outputs = [o for cell in cells for o in cell.get("outputs", [])]
    data = [{"text": o.get("text", ""), **o.get("data", {})} for o in outputs]
    kinds = ("text", "text/plain", "text/html")
    return "".join("".join(d.get(kind, "")) for d in data for kind in kinds)


def written(folder, name="sample"):
    """What the explorer's page of the sample or of a run holds, and the page without it."""
    return explorer.read((folder / name / "explorer.html").read_text(encoding="utf-8"))


def test_the_explorers_notebook_writes_the_page_of_its_settings(tmp_path, monkeypatch):
    (tmp_path / "sample").mkdir()
    (tmp_path / "sample/explorer.html").write_text("the sample's")
    kept_in(tmp_path / "before", "medhalu")
    for top in ("", ".cache/graded"):
        made = tmp_path / "before" / top / "sample" / "medhalu"
        shutil.copytree(made, tmp_path / top / "runs" / "sample-limit-2" / "medhalu")
    given = {"chosen": "medhalu", "study": "medhalu", "limit": "2"}
    said = run_notebook("explore_failures", tmp_path, monkeypatch, **given)
    assert (tmp_path / "sample/explorer.html").read_text() == "the sample's"
    page, _ = written(tmp_path, "runs/sample-limit-2")
    assert f"{len(page['rows'])} replies" in said and "verdicts:" in said
    assert {r["paper"] for r in page["rows"]} == {"medhalu"}


def test_the_agreement_notebook_runs_without_labels_and_with_some(tmp_path, monkeypatch):
    judged = annotation.rows(judged_items.collect("sample", "radiation"))
    given = {"task": "side_effect", "folder": str(tmp_path / "labels")}
    assert "0 raters, 0 replies" in run_notebook("agreement", tmp_path, monkeypatch, **given)
    for rater in ("Ann", "Bob"):

        def say(item, n, rater=rater):
            return "different" if rater == "Ann" or n else "same"

        rater_pages.answer(tmp_path, judged, "side_effect", rater, say, size=6)
    said = run_notebook("agreement", tmp_path / "after", monkeypatch, **given)
    assert "2 raters, 6 replies" in said and "Ann and Bob" in said
    assert "1 replies on which raters differ" in said and "prediction-powered" in said


def judged(item, model, **rights):
    """A row with judges' verdicts: right, wrong or, for None, unparsed."""
    verdicts = [
        judged_items.verdict(judge, "unparsed" if right is None else "graded", str(right), right)
        for judge, right in rights.items()
    ]
    texts = {"id": f"{item}/{model}", "item": item, "unit": str(item), "model": model}
    return dict.fromkeys(judged_items.ROW, "") | texts | {"verdicts": verdicts, "human": []}


def test_failures_are_shares_of_what_was_scored_with_intervals_of_units():
    wrong = [n % 3 == 0 for n in range(24)]
    rows = [judged(n, "a", j=not w) for n, w in enumerate(wrong)]
    for n, one in enumerate(rows):
        one |= {"paper": f"p{n % 2}", "unit": f"u{n // 4}"}
    rows += [judged(n, model, j=None) for n, model in enumerate("ab")]
    found = counts.failures(judged_items.frame({"rows": rows}), "model")
    # a unit is one within its paper: twelve of them
    share = stats.share(wrong, [f"p{n % 2} u{n // 4}" for n in range(24)])
    assert found.loc["a"].tolist() == [*(100 * x for x in share[:3]), 24, 1]
    assert found.loc["b"].isna().sum() == 3 and found.loc["b"].tolist()[3:] == [0, 1]
    one = counts.failures(judged_items.frame({"rows": rows[:4:2]}), ["paper", "model"])
    assert one.iloc[0, 0] == 50 and one.iloc[0, 1:3].isna().all()


def test_judges_disagree_where_both_graded():
    content = {
        "rows": [
            judged(1, "a", j=True, k=True),
            judged(2, "a", j=True, k=False),
            judged(3, "a", j=True, k=None),
            judged(4, "b", m=True),
        ]
    }
    ((pair, (both, differing)),) = counts.disagreements(judged_items.frame(content)).items()
    assert (pair, both) == ("j and k", 2)
    assert differing.to_dict("index") == {"2/a": {"j": "True", "k": "False"}}
    assert counts.disagreements(judged_items.frame({"rows": []})) == {}


def test_after_one_study_alone_a_run_has_an_explorer_and_the_sample_keeps_its_own(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(here, "figures", str(tmp_path))
    kept_in(tmp_path, "medhalu")
    for top in ("", ".cache/graded"):
        made = tmp_path / top / "sample" / "medhalu"
        shutil.copytree(made, tmp_path / top / "runs" / "sample-limit-2" / "medhalu")
    steps.explorer({"profile": "sample", "limit": "2", "mode": "replay"})
    page, rest = written(tmp_path, "runs/sample-limit-2")
    assert {r["paper"] for r in page["rows"]} == {"medhalu"} and "radiation.html" not in rest
    capsys.readouterr()
    steps.explorer({"profile": "sample"})
    assert "sample/explorer.html is as it was" in capsys.readouterr().out
    assert not (tmp_path / "sample/explorer.html").exists()
    with pytest.raises(BedsideError, match="sample-limit-3/medhalu has no graded replies"):
        steps.explorer({"profile": "sample", "papers": "medhalu", "limit": "3", "mode": "replay"})
