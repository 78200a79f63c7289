"""Pages that raters get without a server, and what comes back of them."""

import json

import pytest
from annotation_rows import SECRET, row

from bedside import BedsideError, annotation
from bedside import __main__ as steps
from bedside.annotation import handed, raters
from bedside.publish.judged_items import text

AT = "2026-11-25T10:00:00Z"
RATERS = ["Anna Berg", "Jürgen Öz"]


def many(n):
    return [row(f"cm-{i}", unit=f"u{i}") for i in range(n)]


def out(folder, rows, task="presupposition", names=RATERS, **how):
    """The pages of raters in folder/pages, {rater: its text}, with labels in folder/labels."""
    made = handed.out(
        rows, task, names, folder / "pages", folder / "labels", **{"repetitions": 0.0, **how}
    )
    return {name: path.read_text(encoding="utf-8") for name, (path, _) in zip(names, made)}


def data(page):
    return json.loads(page.split('id="data">')[1].split("</script>")[0])


def back(folder, name, page, *lines, **head):
    """Write the file that a rater's page saves, with these labels."""
    about = data(page)
    head = {"bedside": "labels", "task": about["task"], "rater": about["about"]["rater"], **head}
    head = {"hand": about["hand"], **head}
    folder.mkdir(exist_ok=True)
    text = "\n".join(map(json.dumps, [head, *lines]))
    (folder / name).write_text(text, encoding="utf-8")


def label(page, n, value="1", at=AT, **more):
    return {"id": data(page)["items"][n]["id"], "again": False, "values": [value], "at": at, **more}


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


def medhalu(n):
    question = {"shared": [text("Question", "Is it safe?")]}
    return [
        row(f"mh-{i}", "medhalu", "2.2 answers", f"It is {i} safe.", **question) for i in range(n)
    ]


def test_a_protocol_comes_back_too(tmp_path):
    page = out(tmp_path, medhalu(3), "hallucination", ["Jo"], protocol=True, group="expert")["Jo"]
    about = data(page)
    assert "voluntary" in about["entrance"]["consent"] and len(about["items"]) > 3
    done = [{"training": t["id"], "right": True, "at": AT} for t in about["training"]]
    agreed = {"entrance": {"Gender": "Female", "Race": "nonsense"}, "at": AT}
    back(tmp_path / "back", "Jo.jsonl", page, agreed, *done, label(page, 0, "no"))
    for _ in range(2):
        assert handed.taken(tmp_path / "back", tmp_path / "labels")[1] == 0
    kept = (tmp_path / "labels/hallucination/background/Jo.jsonl").read_text().splitlines()
    assert [json.loads(line)["answers"] for line in kept] == [{"Gender": "Female"}]
    how = annotation.grouped(folder=tmp_path / "labels", protocol=True, repetitions=0.0)
    session = annotation.Session(medhalu(3), "hallucination", "Jo", "expert", **how)
    assert session.training is None and session.progress[0] == 1
