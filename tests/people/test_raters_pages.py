"""Raters' pages without a browser: what they show, what comes back, and that no label is lost."""

import collections
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
import raters_labels
from raters_labels import BURN, DIALOGUE, SECRET, TASKS, many, row

from bedside import BedsideError, annotation
from bedside import __main__ as steps
from bedside.annotation import handed, log, raters, tasks
from bedside.publish.judged_items import text
from rater_pages import back, data, items, label, out, said, taken

own = raters_labels.own  # a fixture
RATERS = ["Anna Berg", "Jürgen Öz"]
REFUSED = {"values": [], "refused": "faulty", "reason": "x"}


# ---- blindness


@pytest.mark.parametrize("task", TASKS)
def test_neither_a_raters_page_nor_labels_say_whose_reply_it_is(tmp_path, task):
    how = tasks()[task]
    seen = [text(label, f"seen {label}") for label in how.shows]
    others = {label for name in TASKS for label in tasks()[name].shows} - set(how.shows)
    labels = (*others, SECRET, "Expert answer", "Label of the answer", "Behaviour script")
    hidden = [text(label, SECRET) for label in labels]
    marked = {"kind": "marked", "label": SECRET, "pieces": [["Iron heals.", "labelled detected"]]}
    blocks = [*seen[1:], DIALOGUE, marked, *hidden]
    one = row("x-1", task, id=f"{SECRET} x-1", shared=seen[:1] + hidden, blocks=blocks)
    page = out(tmp_path, [one], task, ["Ann"], group="expert")["Ann"]
    back(tmp_path, "Ann", page, *said(page, lambda item, n: REFUSED))
    assert taken(tmp_path)[1] == 0
    shown = json.dumps(data(page))
    assert SECRET not in shown + (tmp_path / f"labels/{task}/Ann.jsonl").read_text()
    assert "script" not in shown and all(b["text"] in shown for b in seen)
    assert ("nothing." in shown) == (task == "adherence")


def test_a_repetition_and_a_hostile_text_look_like_any_item(tmp_path):
    hostile = "</script><script>document.title = 'gone'</script> {{ 7 * 7 }} \ud800 end"
    rows = [row("cm-1", reply=hostile), *many(6)]
    page = out(tmp_path, rows, "presupposition", ["Ann"], repetitions=0.5)["Ann"]
    assert page.count("<script") == page.count("</script>") == 2
    assert "default-src 'none'" in page and "http" not in page.split("<body>")[1]
    shown = data(page)["items"]
    bare = [{k: v for k, v in i.items() if k != "again"} for i in shown]
    again = [n for n, i in enumerate(shown) if i["again"]]
    assert len(shown) == 11 and len(again) == 4
    assert all(n - bare.index(bare[n]) > 3 and bare.count(bare[n]) == 2 for n in again)
    assert hostile.replace("\ud800", "\ufffd") in [i["answer"]["text"] for i in shown]


@pytest.mark.parametrize("task", sorted({*TASKS, "own"} - {"adherence", "review"}))
def test_guidelines_say_what_a_refusal_or_an_answer_to_something_else_counts_as(task):
    assert any(met.startswith("A refusal") for met, _, _ in tasks()[task].examples)


# ---- samples


def replies(folder, rows, rater="Ann", task="presupposition", **how):
    """The replies on a rater's page, in their order."""
    return [i["answer"]["text"] for i in items(folder, rows, task, rater, **how)]


def of_models(*counts):
    names = [f"{m} {n}" for m, count in enumerate(counts) for n in range(count)]
    return [row(name, model=name.split()[0], reply=name) for name in names]


def by_model(texts):
    return collections.Counter(int(t.split()[0]) for t in texts)


@pytest.mark.parametrize(
    "counts, size, drawn",
    [
        # 0.8, 0.1 and 0.1 get one each; what is left goes to the first
        ([90, 8, 1, 1], 10, [7, 1, 1, 1]),
        ([50, 30, 20], 4, [2, 1, 1]),  # shares 2, 1.2, 0.8
        ([5, 2], 0, [5, 2]),
    ],
)
def test_strata_are_drawn_by_largest_remainder(tmp_path, counts, size, drawn):
    rows = of_models(*counts)
    got = replies(tmp_path, rows, size=size)
    assert by_model(got) == dict(enumerate(drawn)) and len({*got}) == len(got)
    assert replies(tmp_path, rows[::-1], size=size) == got


def test_only_replies_of_the_task_that_are_worth_a_label_and_each_text_once(own, tmp_path):
    own()
    models = {"a": "smollm2-135m", "b": "gpt-4o", "c": "qwen2.5-coder-1.5b", "d": "gpt-4o"}
    there = [row(item, "own", model=m) for item, m in models.items()]
    there[3] |= {k: there[1][k] for k in ("reply", "shared")}
    there += [row("e"), row("f", "own", reply_status="refused", reply="")]

    def shown(rows, **how):
        return sorted(t[-1] for t in replies(tmp_path, rows, task="own", **how))

    # the smallest model's truncated replies only on demand, or if nobody else replied
    assert shown(there) == ["b", "c"] and shown(there, tiny=True) == ["a", "b", "c"]
    own(pieces_of="8 lists")  # and so with pieces of replies
    lists = [row(r["item"], "own", section="8 lists", model=r["model"]) for r in there]
    lists[1]["reply"] += "\nREPLY C"
    pieces = [r | {"model": "lists of all"} for r in there[:4]]
    assert shown(lists[:2] + pieces) == ["b", "c"] and shown(lists[:1] + pieces[:1]) == ["a"]
    assert shown(lists + pieces, tiny=True) == ["a", "b", "c"]
    own()
    assert shown(there[:1]) == ["a"]
    with pytest.raises(BedsideError, match="no replies for the task 'own'"):
        shown(there[4:])
    document = {"shared": {"a": [DIALOGUE]}, "rows": [row("cm-1", shared=["a"])]}
    assert annotation.rows(document)[0]["shared"] == [DIALOGUE]


def test_shares_overlap_as_asked_keep_the_strata_and_leave_nothing_out(tmp_path):
    rows, team = of_models(30, 15, 15), ("Ann", "Ben", "Cem")
    how = {"size": 0, "raters": team, "overlap": 0.2}
    queues = {rater: replies(tmp_path, rows, rater, **how) for rater in team}
    sets = [{*q} for q in queues.values()]
    common = set.intersection(*sets)
    # 12 of 60 to all, the other 48 in three times 16: 24, 12 and 12 are dealt out
    assert [len(s) for s in sets] == [28] * 3 and len(set.union(*sets)) == 60
    assert by_model(common) == {0: 6, 1: 3, 2: 3}
    assert all(by_model(s - common) == {0: 8, 1: 4, 2: 4} for s in sets)
    orders = [[t for t in q if t in common] for q in queues.values()]
    assert orders[0] != orders[1]
    again = how | {"raters": (" Cem", "Ann", "Ben ")}
    assert replies(tmp_path, rows[::-1], "Ben", **again) == queues["Ben"]
    assert replies(tmp_path, rows, "Ben", **how, seed=1) != queues["Ben"]
    for wrong in ({"raters": ("Ann", "Ann")}, {"overlap": 1.2}, {"seed": -1}, {"batches": 2}):
        with pytest.raises(BedsideError):
            replies(tmp_path, rows, **how | wrong)
    with pytest.raises(BedsideError, match="no share of this sample"):
        replies(tmp_path, rows, "Dan", **how)


# ---- labels that come back

LINES = Path(__file__).with_name("lines.txt").read_text(encoding="utf-8").splitlines()[2:]


@pytest.mark.parametrize("line", LINES)
def test_a_file_with_a_fault_is_told_and_nothing_of_it_is_taken(tmp_path, line):
    task, given, fault = line.split(" |")
    given, blocks = json.loads(given), [DIALOGUE] if task == "adherence" else []
    rows = [row("x-1", task, reply=BURN, blocks=blocks)]
    pages = out(tmp_path, rows, task, ["Ann", "Ben"])
    given = label(pages["Ann"], 0) | given if isinstance(given, dict) else "[" * 9000
    back(tmp_path, "Ann", pages["Ann"], given)
    back(tmp_path, "Ben", pages["Ben"], label(pages["Ben"], 0) | REFUSED)
    (told, other), faults = taken(tmp_path)
    (item,) = items(tmp_path, rows, task, "Ann")
    assert "1 new labels" in other and faults == bool(fault)
    if fault:
        assert "not taken: line 2" in told and fault.strip() in told and item["given"] is None
    else:
        assert item["given"]["values"] == sorted({*given["values"]})


def test_what_comes_back_is_taken_in_once_and_counts_for_the_text_that_was_shown(tmp_path):
    rows, how = many(4), {"group": "expert", "size": 4}
    pages = out(tmp_path, rows, "presupposition", RATERS, **how)
    for name, page in pages.items():
        more = [label(page, 1, "0", reason="vague"), label(page, 1, "-1", "2026-11-25T10:05:00Z")]
        back(tmp_path, f"{name} (1)", page, label(page, 0), *more, label(page, 2) | REFUSED)
    for new in (4, 0):
        told, faults = taken(tmp_path)
        assert not faults and len(told) == 2
        assert f"Jürgen Öz, presupposition: {new} new labels; 3 of 4 done, 1 of them" in told[1]
    labels = raters.labels("presupposition", rows, tmp_path / "labels")
    assert set(labels["rater"]) == set(RATERS) and set(labels["group"]) == {"expert"}
    assert sorted(labels["value"].dropna()) == ["-1", "-1", "1", "1"]
    first = data(pages["Anna Berg"])["items"][0]["answer"]["text"]
    changed = [r | {"reply": "rewritten"} if r["reply"] == first else r for r in rows]
    for given, labelled in ((rows, 3), (changed, 2)):
        again = items(tmp_path, given, "presupposition", "Anna Berg", **how)
        assert sum(bool(i["given"]) for i in again) == labelled


def test_files_of_others_are_told(tmp_path, monkeypatch, capsys):
    page = out(tmp_path, many(2), "presupposition", RATERS)["Anna Berg"]
    heads = {"a": {"hand": "0" * 12}, "b": {"hand": "../../x"}, "c": {"task": "nonsense\x1b[2J"}}
    for name, head in (heads | {"d": {"rater": "../Jo"}}).items():
        back(tmp_path, name, page, label(page, 0), **head)
    where, another = tmp_path / "back", b'[{"data": {"text": "of another project"}}]'
    for name, written in (("e.docx", b"PK\x03\x04\xff"), ("f.json", another), ("g.jsonl", b"")):
        (where / name).write_bytes(written)
    told, refused = taken(tmp_path)
    assert refused == 7 and all("not taken: " in t for t in told) and "\x1b" not in "".join(told)
    assert "no page of 'Anna Berg' with this sample" in told[0]
    monkeypatch.setattr("bedside.annotation.returned.FOLDER", tmp_path / "labels")
    with pytest.raises(SystemExit):
        steps.main(["annotate", f"FROM={where}"])
    assert "7 of 7 files were rejected" in capsys.readouterr().err
    with pytest.raises(BedsideError, match="no such file"):
        handed.taken(tmp_path / "nowhere")


def test_what_a_browser_kept_of_an_earlier_page_comes_back_with_the_next(tmp_path):
    """A page made with another size or draw says which pages of this rater came before it."""
    rows = many(8)

    def made(rows=rows, **more):
        return out(tmp_path, rows, "presupposition", ["Ann"], **more)["Ann"]

    pages = made(), made(size=4), made(all_reasons=True)
    first, second, third = map(data, pages)
    assert first["earlier"] == [] and second["earlier"] == [first["hand"]]
    assert third["earlier"] == []  # it asks for more than they gave
    back(tmp_path, "Ann", pages[1], *(label(pages[0], n) for n in range(8)))
    (told,), refused = taken(tmp_path)
    assert not refused and "8 new labels; 4 of 4 done" in told
    assert data(made([r | {"reply": "rewritten"} for r in rows]))["earlier"] == []
    again = data(made())
    assert again["hand"] == first["hand"] and again["earlier"] == [second["hand"]]


@pytest.mark.parametrize("task", ["hallucination", "adherence", "survey_answers"])
def test_label_studio_gets_a_raters_items_and_its_export_comes_back(tmp_path, task):
    how, blocks = tasks()[task], [DIALOGUE] if task == "adherence" else []
    rows = [row(n, task, reply=f"🙂 {BURN} {n}", blocks=blocks) for n in "abc"]

    def export():
        given = {"server": True, "repetitions": 0.0}
        made = handed.out(rows, task, RATERS[:1], tmp_path, tmp_path / "labels", **given)
        return made[0][0], json.loads(made[0][0].read_text())

    path, shown = export()
    choices = ElementTree.parse(path.with_suffix(".xml")).iter("Choices")
    offered = {c.get("name"): [x.get("alias") for x in c] for c in choices}
    assert offered["values"] == list(how.values) and len(shown) == 3
    assert SECRET not in path.read_text() and ("nothing." in path.read_text()) == bool(blocks)
    kinds = {"values": "choices", "reason": "textarea"}
    given = {"values": {"choices": [how.values[0]]}, "reason": {"text": ["so", "it is"]}}
    if how.spans_for:
        kinds |= {"type": "choices", "spans": "labels"}
        span = {"start": 9, "end": 19, "text": "Iron heals", "labels": ["span"]}
        given |= {"type": {"choices": [how.types[0][1]]}, "spans": span}
    result = [{"from_name": k, "type": kinds[k], "value": v} for k, v in given.items()]
    about = {"updated_at": "2026-11-25T10:00:00.1Z", "lead_time": 4.2, "was_cancelled": False}
    for item in shown:  # as a server gives it back
        item["annotations"] = [{"result": result, **about}, {"result": [], "was_cancelled": True}]
    (tmp_path / "back").mkdir()
    for new in (3, 0, 0):
        (tmp_path / "back/export.json").write_text(json.dumps(shown))
        (told,), refused = taken(tmp_path)
        assert not refused and f"{RATERS[0]}, {task}: {new} new labels" in told
        if not new:
            shown = export()[1]  # with the labels so far
            for r in shown[0]["annotations"][0]["result"]:
                assert r["type"] == kinds[r["from_name"]]
                assert r["value"] == given[r["from_name"]] or r["from_name"] == "reason"


# ---- logs


def test_damage_costs_only_the_lines_that_it_hits(tmp_path):
    rows, path = many(3), tmp_path / "labels/presupposition/Ann.jsonl"

    def labelled():
        return sum(bool(i["given"]) for i in items(tmp_path, rows, "presupposition", "Ann"))

    for one in rows:
        raters_labels.write(tmp_path / "labels", "Ann", one, "1")
    whole = path.read_bytes()
    first, second, third = whole.splitlines(keepends=True)
    path.write_bytes(whole[:-1])  # a whole label that lacks only the end of its line counts
    assert labelled() == 3
    for cut in (len(whole) - 2, len(first + second) + 1):
        path.write_bytes(whole[:cut])
        assert labelled() == 2
        raters_labels.write(tmp_path / "labels", "Ann", rows[2], "1")
        assert labelled() == 3
        assert path.read_bytes().startswith(whole[:cut])  # nothing is deleted
    old = {k: v for k, v in json.loads(second).items() if k not in ("refused", "source")}
    other = json.dumps(json.loads(third) | {"value": 1}).encode()
    lines = [first, json.dumps(old).encode(), b"garbage", b"", b"\xff\xfe", b"[1]", other]
    path.write_bytes(b"\n".join(line.strip(b"\n") for line in lines))
    found, damaged = log.read(path)
    assert len(found) == 2
    assert [place.rpartition(" ")[2] for place in damaged] == ["3", "5", "6", "7"]
    assert all("Ann.jsonl, line" in place for place in damaged)
