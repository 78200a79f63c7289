"""Handed out: an HTML page for each rater, which needs no server, or a file for Label Studio.

    paths = handed.out(rows, "my_task", ["Anna Berg", "Jo"], folder, size=30)
    lines = handed.taken("returned")

A page holds the rater's items and nothing that says who wrote or judged them. It keeps labels in
the browser and saves them as a file. What a label's record needs besides stays here, in
<task>/handed/<rater>-<hand>.json of the folder of labels; by it a file that comes back is checked.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bedside import BedsideError, choose, explorer
from bedside.asking.store import digest
from bedside.build import settings
from bedside.publish.judged_items import collect
from bedside.publish.pages import hashes, template
from bedside.read import paths
from bedside.read.prompts import clean

from . import label_studio, protocol
from .blind import alias, candidates, material, rows
from .labelling import JOINED, tasks
from .log import ADJUDICATED, FOLDER, NAME, REFUSALS, RESERVED, last, named
from .returned import pages, taken
from .sampling import Entry, Sample, assigned, queue

HERE = Path(__file__).parent
SCRIPTS = "keeping spans page".split()
# The fields of a task that the page gets: not those that choose rows and blocks or use labels.
ABOUT = "title question guide examples choices types labels spans_for several".split()
ABOUT += "reason_for source_for closing".split()
RULES = ("protocol", "all_reasons")


def out(
    found: list[dict],
    task: str,
    names: list[str],
    to: Path,
    folder: Path | str = "",
    opinions: Mapping[str, list[dict]] | None = None,
    server: bool = False,
    **how: Any,
) -> list[tuple[Path, int]]:
    """Write a page for each rater into the folder `to`; return (path, number of items) of each.

    opinions: for ADJUDICATED, from `raters.opinions`; all those rows are then shown. server: write
    Label Studio's JSON and configuration instead. how: a `Sample`. What a rater has labelled
    already is on the page.
    """
    made = []
    for name in map(named, names):
        page = _page(found, task, name, Sample(**how), Path(folder or FOLDER), opinions)
        path = Path(to) / f"{task}-{name}{'.json' if server else '.html'}"
        path.parent.mkdir(parents=True, exist_ok=True)
        if server:
            paths.write(path.with_suffix(".xml"), label_studio.configuration(page["about"]))
        write = label_studio.exported if server else _html
        paths.write(path, write(page))
        made.append((path, len(page["items"])))
    return made


def _page(found, name, rater, how, folder, opinions):
    """What a rater's page holds; its entries are put down for the labels that come back."""
    task = tasks()[choose(name, tasks(), "task")].ruled(how.protocol, how.all_reasons)
    if (rater == ADJUDICATED) != (opinions is not None):
        raise BedsideError(f"rater {rater!r}: {RESERVED}")
    if how.group and not NAME.fullmatch(how.group):
        words = "give expert, layperson or another word of up to 40 letters and digits"
        raise BedsideError(f"group {how.group!r}: {words}")
    if opinions is None:
        there = candidates(found, task, how.tiny)
        drawn = [
            Entry(r, e.repetition) for e in queue(there, rater, how) for r in task.asked(e.row)
        ]
        mixed = protocol.mixed(drawn, task, rater, how.seed) if how.protocol and drawn else drawn
    else:
        there = [row for row in found if row["id"] in opinions and task.takes(row)]
        mixed = [Entry(row, False) for row in there]
    if not mixed:
        raise BedsideError(
            f"the document has no replies for the task {name!r}, which needs rows of {task.paper},"
            f" section {' or '.join(task.sections)}; use the profile that has them (`public` for"
            " released data), run the paper's notebooks, or choose another task"
        )
    sample = {"seed": how.seed, "size": how.size, "n": len(there), "of": len(mixed)}
    about = {"task": name, "rater": rater, "group": how.group, "sample": sample}
    seen = [material(e.row, task) for e in mixed]
    entries = [
        {"id": alias(e.row["id"]), **{k: e.row[k] for k in ("paper", "item")}, **about}
        | {"check": e.repetition, "text_sha256": digest(shown), "answer": shown["answer"]["text"]}
        for e, shown in zip(mixed, seen)
    ]
    hand, earlier = _put_down(folder / name, rater, how, entries)
    labelled = last(folder / name / f"{rater}.jsonl")
    items = [
        {"id": entry["id"], "again": e.repetition, **shown, "cut": bool(e.row.get("truncated"))}
        | {"opinions": _opinions((opinions or {}).get(e.row["id"], []), task, entry, how.seed)}
        | {"given": _given(labelled.get((entry["id"], e.repetition)), entry)}
        for e, shown, entry in zip(mixed, seen, entries)
    ]
    background = folder / name / "background" / f"{rater}.jsonl"
    return {
        "hand": hand,
        "earlier": earlier,
        "task": name,
        "about": {k: getattr(task, k) for k in ABOUT}
        | {"rater": rater, "settles": opinions is not None},
        "entrance": protocol.entrance(task, background) if how.protocol else None,
        "training": protocol.training(task) if how.protocol else [],
        "items": items,
    }


def _put_down(folder, rater, how, entries):
    """(this page's name, those of the rater's earlier pages of which a browser may keep labels).

    An earlier page counts if its rules and the texts of the items that both have are the same.
    """
    made = {"group": how.group, **{k: getattr(how, k) for k in RULES}, "entries": entries}
    shown, hand = {e["id"]: e["text_sha256"] for e in entries}, digest(made)[:12]
    earlier = [
        name
        for name, page in pages(folder, rater).items()
        if name != hand
        and all(page[k] == made[k] for k in RULES)
        and all(shown.get(e["id"], e["text_sha256"]) == e["text_sha256"] for e in page["entries"])
    ]
    path = folder / "handed" / f"{rater}-{hand}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    paths.write(path, json.dumps(made, indent=1), durable=True)
    return hand, earlier


def _given(record, entry):
    """A rater's label so far as a page has it, None without one of the same text."""
    if not record or record["text_sha256"] != entry["text_sha256"]:
        return None
    values, types = ([v for v in record[k].split(JOINED) if v] for k in ("value", "type"))
    return {"values": values, "type": types} | {
        k: record[k] for k in ("at", "spans", "reason", "source", "refused", "seconds")
    }


def _opinions(labels, task, entry, seed):
    """The raters' labels of a row, in words, in an order that doesn't reveal the raters."""
    rng = np.random.default_rng([seed, int(entry["id"][:8], 16)])
    return [
        {
            "said": [REFUSALS[label["refused"]]] if label["refused"] else task.in_words(label),
            "spans": label.get("spans") or [],
            **{k: label.get(k) or "" for k in ("reason", "source")},
        }
        for label in (labels[i] for i in rng.permutation(len(labels)))
    ]


def _html(page):
    scripts = [explorer.script("script/texts.js", *(HERE / f"script/{n}.js" for n in SCRIPTS))]
    return template(HERE / "page.html.j2").render(
        title=page["about"]["title"],
        data=clean(json.dumps(page, ensure_ascii=False).replace("<", "\\u003c")),
        style=explorer.inline(HERE / "page.css"),
        script=scripts[0],
        hashes=hashes(scripts),
        rater=page["about"]["rater"],
    )


# ---- make annotate


def by_make(given: dict[str, str]) -> None:
    """What `make annotate` does, by its variables in lower case; what is made is printed."""
    if place := given.pop("from", ""):
        lines, refused = taken(place)
        print(*lines, sep="\n")
        if refused:
            raise BedsideError(f"{refused} of {len(lines)} files were rejected")
        return
    task = tasks()[choose(given.get("task", ""), tasks(), "TASK")]
    names = [n.strip() for n in given.get("raters", "").split(",") if n.strip()]
    if not names:
        raise BedsideError('name the raters: make annotate TASK=... RATERS="Anna Berg, Jo"')
    own = task.batches if "protocol" in given and "shared" not in given else 0
    try:
        seed, size = int(given.get("seed", 0)), int(given.get("size", 20))
        batches = int(given.get("batches", own))
    except ValueError:
        raise BedsideError("SEED, SIZE and BATCHES are whole numbers") from None
    how = {"group": given.get("group", ""), "seed": seed, "server": "label_studio" in given}
    how |= {"protocol": "protocol" in given, "all_reasons": "reasons" in given}
    if how["protocol"] and how["server"]:
        raise BedsideError("consent and training are on pages only: PROTOCOL=1 or LABEL_STUDIO=1")
    found = rows(_document(task, given))
    if names == [ADJUDICATED]:
        found, how["opinions"] = _unsettled(task.name, found)
        if not found:
            return
    else:
        how |= {"size": size, "batches": batches, "tiny": "tiny" in given}
        how["raters"] = names if "shared" in given or batches else ()
        if batches:
            print("batches:", assigned(names, batches))
    for path, count in out(found, task.name, names, settings.figures() / "annotate", **how):
        print(f"{paths.rel(path)}: {count} items")
    print("Send each rater their page. Read the returned files with: make annotate FROM=folder")


def _unsettled(task, found):
    """(the rows on which raters differ, their opinions); if there are none, that is printed."""
    from . import raters

    labels = raters.labels(task, found)
    open_ = raters.differing(labels, found, task)
    if not open_:
        settled = raters.consensus(labels)["by"].value_counts().to_dict()
        told = ", ".join(f"{n} {by}" for by, n in settled.items()) or "nobody has labelled any yet"
        print(f"Nothing is left to settle. Labels of {task}: {told}.")
    return open_, raters.opinions(labels, open_)


def _document(task, given):
    """The judged items that a task is about: of a profile or run, or of a study of one's own."""
    if task.name != "own":
        run = {k: given[k] for k in ("models", "limit") if k in given}
        return collect(given.get("profile", "sample"), task.paper, **run)
    page = settings.figures() / "own" / given.get("name", "") / "explorer.html"
    if not given.get("name") or not page.is_file():
        raise BedsideError(f"{paths.rel(page)}: name a study of your own that has run: NAME=")
    return explorer.read(page.read_text(encoding="utf-8"))[0]
