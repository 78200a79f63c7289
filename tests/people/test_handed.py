"""Pages that raters get without a server, and what comes back of them."""

import collections

import numpy as np
import pytest
from annotation_rows import SECRET, row

import rater_pages
from bedside import BedsideError
from bedside import __main__ as steps
from bedside.annotation import handed, raters, rows, tasks
from bedside.publish.judged_items import collect
from bedside.read.surroundings import here
from judged import kept_in
from rater_pages import back, data, label, said

RATERS = ["Anna Berg", "Jürgen Öz"]


def many(n):
    return [row(f"cm-{i}", unit=f"u{i}") for i in range(n)]


def out(folder, rows, task="presupposition", names=RATERS, **how):
    return rater_pages.out(folder, rows, task, names, **how)


def test_a_page_names_neither_model_nor_judge_and_loads_nothing(tmp_path):
    hostile = "</script><script>document.title = 'gone'</script><!-- {{ 7 * 7 }}"
    rows = [*many(3), row("cm-9", reply=hostile, truncated=True)]
    page = out(tmp_path, rows)["Anna Berg"]
    assert SECRET not in page and page.count("<script") == 2 and page.count("</script>") == 2
    assert "default-src 'none'" in page and "http" not in page.split("<body>")[1]
    cut = [i["cut"] for i in data(page)["items"] if i["answer"]["text"] == hostile]
    assert cut == [True] and "gone" in page


def test_what_comes_back_is_taken_in_once(tmp_path):
    pages = out(tmp_path, many(4), group="expert", size=4)
    for name, page in pages.items():
        more = [label(page, 1, "0", reason="vague"), label(page, 1, "-1", "2026-11-25T10:05:00Z")]
        refused = label(page, 2, refused="faulty", reason="two questions") | {"values": []}
        back(tmp_path / "back", f"{name} (1).jsonl", page, label(page, 0), *more, refused)
    for new in (4, 0):
        told, faults = handed.taken(tmp_path / "back", tmp_path / "labels")
        assert not faults and len(told) == 2
        assert f"Jürgen Öz, presupposition: {new} new labels; 3 of 4 done, 1 of them" in told[1]
    labels = raters.labels("presupposition", many(4), tmp_path / "labels")
    assert set(labels["rater"]) == set(RATERS) and set(labels["group"]) == {"expert"}
    assert sorted(labels["value"].dropna()) == ["-1", "-1", "1", "1"]
    again = data(out(tmp_path, many(4), names=["Anna Berg"], group="expert", size=4)["Anna Berg"])
    assert [bool(i["given"]) for i in again["items"]] == [True, True, True, False]


@pytest.mark.parametrize(
    "lines, told",
    [
        ([{"values": ["7"]}], "'7' is not a choice"),
        ([{"values": []}], "choose one of"),
        ([{"id": "0" * 20}], "its item isn't on this rater's page"),
        ([{"at": "2026-11-25"}], "its time has no zone"),
        ([{"at": "yesterday"}], "line 2: "),
        ([{"values": "1"}], "expected array"),
        ([{"seconds": -5}], "seconds are"),
        ([{"spans": ["reply"]}], "has no type and no spans"),
        ([{"refused": "tired", "values": []}], "is not a refusal"),
        (["[" * 9000], "line 2: "),
    ],
)
def test_a_file_with_a_fault_is_told_and_the_others_are_taken(lines, told, tmp_path):
    pages = out(tmp_path, many(2))
    page = pages["Anna Berg"]
    wrong = [label(page, 0) | x if isinstance(x, dict) else x for x in lines]
    back(tmp_path / "back", "a.jsonl", page, *wrong)
    back(tmp_path / "back", "b.jsonl", pages["Jürgen Öz"], label(pages["Jürgen Öz"], 0))
    (said, other), refused = handed.taken(tmp_path / "back", tmp_path / "labels")
    assert told in said and said.startswith("a.jsonl: not taken: line 2") and refused == 1
    assert "1 new labels" in other
    assert not (tmp_path / "labels/presupposition/Anna Berg.jsonl").exists()


def test_files_of_others_are_told(tmp_path, monkeypatch, capsys):
    page = out(tmp_path, many(2))["Anna Berg"]
    where = tmp_path / "back"
    back(where, "a.jsonl", page, label(page, 0), hand="0" * 12)
    back(where, "b.jsonl", page, hand="../../x")
    back(where, "c.jsonl", page, task="nonsense\x1b[2J")
    back(where, "d.jsonl", page, rater="../Jo")
    (where / "e.docx").write_bytes(b"PK\x03\x04\xff")
    (where / "f.jsonl").write_bytes(b"")
    told, refused = handed.taken(where, tmp_path / "labels")
    assert refused == 6 and all("not taken: " in t for t in told) and "\x1b" not in "".join(told)
    assert "no page of 'Anna Berg' with this sample" in told[0]
    monkeypatch.setattr(handed, "FOLDER", tmp_path / "labels")
    with pytest.raises(SystemExit):
        steps.main(["annotate", f"FROM={where}"])
    assert "6 of 6 files were not taken" in capsys.readouterr().err
    with pytest.raises(BedsideError, match="there is no file"):
        handed.taken(tmp_path / "nowhere")


# ---- a study's protocol


TEAM = [f"reader {n:02}" for n in range(30)]


def command(capsys, *given):
    steps.main(["annotate", *given])
    return capsys.readouterr().out


def medhalu(folder, monkeypatch):
    """A house with what the sample's MedHalu kept, and no labels."""
    monkeypatch.setattr(here, "figures", str(folder))
    kept_in(folder, "medhalu")
    for room in ("handed", "log", "raters.together"):
        monkeypatch.setattr(f"bedside.annotation.{room}.FOLDER", folder / "labels")
    return rows(collect("sample", "medhalu"))


def test_ten_batches_with_three_raters_each_by_the_protocol_of_medhalu(
    tmp_path, monkeypatch, capsys
):
    """Each of 32 answers has three raters, who are compared; who fails a check doesn't count."""
    known = medhalu(tmp_path, monkeypatch)
    asked = ["TASK=hallucination", "PROTOCOL=1", "SIZE=0", "GROUP=expert"]
    command(capsys, *asked, f"RATERS={', '.join(TEAM)}")
    checks = {x["reply"]: x["right"] for x in tasks()["hallucination"].checks()}
    seen, batches = collections.Counter(), collections.Counter()
    for name in TEAM:
        page = (tmp_path / f"annotate/hallucination-{name}.html").read_text("utf-8")
        items = {i["id"]: i["answer"]["text"] for i in data(page)["items"]}
        mine = frozenset(id for id, text in items.items() if text not in checks)
        assert {*checks} <= {*items.values()} and 3 <= len(mine) <= 4
        assert data(page)["entrance"]["consent"] and data(page)["training"]
        batches[mine] += 1
        seen.update(mine)

        def say(item, n, name=name):
            right = checks.get(item["answer"]["text"], {"value": "no"})
            if right["value"] == "no" or name == "reader 07":
                return "no"
            marks = {"type": [right["type"]], "spans": right["spans"]}
            return {"values": ["yes"], **marks, "reason": "it isn't", "source": "a handbook"}

        entered = {
            "entrance": {"Education": "Graduate in Medicine"},
            "at": rater_pages.FIRST,
        }
        back(tmp_path / "back", f"{name}.jsonl", page, entered, *said(page, say))
    assert len(seen) == 32 and {*seen.values()} == {3} and [*batches.values()] == [3] * 10
    command(capsys, f"FROM={tmp_path / 'back'}")
    labels = raters.labels("hallucination", known, tmp_path / "labels")
    assert labels.attrs["failed"] == ["reader 07"] and set(labels["group"]) == {"expert"}
    counts = labels.groupby("id")["rater"].nunique()
    assert len(counts) == 32 and set(counts) == {2, 3} and counts.eq(2).sum() in (3, 4)
    shown = raters.agreement(labels, "hallucination", np.random.default_rng(1))
    together = ["reader 00 and reader 10", "reader 00 and reader 20", "reader 10 and reader 20"]
    assert {*together} < {*shown["row"]} and "reader 00 and reader 01" not in {*shown["row"]}
    counted = raters.background("hallucination", tmp_path / "labels")
    told = counted.set_index(["question", "answer"])["raters"]
    assert told["attention checks"].to_dict() == {"passed": 29, "failed": 1}
    assert told["Education", "Graduate in Medicine"] == 30


def test_raters_who_make_no_equal_batches_are_told_and_may_label_the_whole(
    tmp_path, monkeypatch, capsys
):
    medhalu(tmp_path, monkeypatch)
    asked = ["TASK=hallucination", "PROTOCOL=1", "SIZE=8", "RATERS=Ann,Ben"]
    with pytest.raises(SystemExit):
        steps.main(["annotate", *asked])
    assert "10 for 2 raters" in capsys.readouterr().err
    command(capsys, *asked, "BATCHES=0")
    pages = [tmp_path / f"annotate/hallucination-{name}.html" for name in ("Ann", "Ben")]
    ids = [{i["id"] for i in data(page.read_text("utf-8"))["items"]} for page in pages]
    assert ids[0] == ids[1] and len(ids[0]) == 8 + 4
    assert "'Ann': 1, 'Ben': 2" in command(capsys, *asked, "BATCHES=2")


def test_a_reason_for_every_decision_arrives_in_the_file(tmp_path, monkeypatch, capsys):
    known = medhalu(tmp_path, monkeypatch)
    command(capsys, "TASK=hallucination", "REASONS=1", "SIZE=3", "RATERS=Ann")
    page = (tmp_path / "annotate/hallucination-Ann.html").read_text("utf-8")
    assert data(page)["about"]["reason_for"] == ["yes", "no"]
    back(tmp_path / "back", "Ann.jsonl", page, *said(page, lambda item, n: "no"))
    with pytest.raises(SystemExit):
        steps.main(["annotate", f"FROM={tmp_path / 'back'}"])
    assert "'no' needs a reason" in capsys.readouterr().out
    why = lambda item, n: {"values": ["no"], "reason": f"checked {item['id']}"}
    back(tmp_path / "back", "Ann.jsonl", page, *said(page, why))
    command(capsys, f"FROM={tmp_path / 'back'}")
    labels = raters.labels("hallucination", known, tmp_path / "labels")
    assert set(labels["reason"]) == {f"checked {i['id']}" for i in data(page)["items"]}
