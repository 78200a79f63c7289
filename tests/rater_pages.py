"""Pages of raters, answered without a browser and taken in."""

import json

from bedside.annotation import handed

RECORD = dict.fromkeys(
    "paper item task group value type reason refused source at text_sha256".split(), ""
)
AT = "2026-11-25T10:{:02}:{:02}Z"
FIRST = AT.format(0, 0)


def record(id, rater="Jo", **other):
    """A line of a file of labels."""
    made = {"id": id, "rater": rater, "spans": [], "seconds": 2.0, "check": False, "sample": {}}
    return RECORD | made | other


def out(folder, rows, task, names, **how):
    """The pages of raters in folder/pages, {rater: its text}, with labels in folder/labels."""
    how = {"repetitions": 0.0, **how}
    made = handed.out(rows, task, names, folder / "pages", folder / "labels", **how)
    return {name: path.read_text(encoding="utf-8") for name, (path, _) in zip(names, made)}


def data(page):
    return json.loads(page.split('id="data">')[1].split("</script>")[0])


def items(folder, rows, task, rater, **how):
    """The items on a rater's page."""
    return data(out(folder, rows, task, [rater], **how)[rater])["items"]


def back(folder, name, page, *lines, **head):
    """Write the file that a rater's page saves, with these labels, into folder/back."""
    about = data(page)
    head = {"bedside": "labels", "task": about["task"], "rater": about["about"]["rater"], **head}
    text = "\n".join(map(json.dumps, [{"hand": about["hand"], **head}, *lines]))
    (folder / "back").mkdir(exist_ok=True)
    (folder / f"back/{name}.jsonl").write_text(text, encoding="utf-8")


def taken(folder):
    """(What is told of the files in folder/back, how many are refused)."""
    return handed.taken(folder / "back", folder / "labels")


def label(page, n, value="1", at=FIRST, **more):
    item = data(page)["items"][n]
    return {"id": item["id"], "again": item["again"], "values": [value], "at": at, **more}


def said(page, say):
    """The labels of a whole page: `say(item, n)` returns a value, or the parts of a label."""
    lines = []
    for n, item in enumerate(data(page)["items"]):
        given = say(item, n)
        given = given if isinstance(given, dict) else {"values": [given]}
        lines.append(label(page, n, at=AT.format(*divmod(n, 60))) | given)
    return lines


def answer(folder, rows, task, rater, say, **how):
    """Have a rater label a whole page, and take it in; return the page's data."""
    page = out(folder, rows, task, [rater], **how)[rater]
    back(folder, rater, page, *said(page, say))
    told, refused = taken(folder)
    assert not refused, told
    (folder / f"back/{rater}.jsonl").unlink()
    return data(page)
