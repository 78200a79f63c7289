"""What a study leaves in files: answers and verdicts, which are read again to compare studies."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from bedside import BedsideError
from bedside.asking import store
from bedside.build import settings
from bedside.publish import comparison
from bedside.publish.judged_items import Display
from bedside.read import paths
from bedside.read.checks import joined
from bedside.read.questions import ALL
from bedside.write import frames, tables
from bedside.write.frames import COLUMNS

from .items import shaped
from .measures import points_of
from .study import ANSWER, PAPER, apart

KEPT = ["item", "model", "group", "unit", "answer", "reply_status", "truncated"]
VERDICT, VERDICTS = ["status", "value", "raw"], "verdicts"


def keep(own, graded):
    """Write answers.csv and verdicts.csv, as `frames` has it, beside the study's outputs.

    criteria.csv has the verdicts on the criteria of a rubric.
    """
    import pandas as pd

    made = shaped(own, graded)
    again = ["configuration"] * bool(made["configuration"].nunique() > 1)
    files = {
        "answers": (made.drop_duplicates(ANSWER), KEPT + again),
        VERDICTS: (made, [*COLUMNS, "group", "raw"]),
    }
    if own.criteria:
        met = [points_of(own, graded[graded["judge"] != ""], scales) for scales in (False, True)]
        told = [*ANSWER, "judge", "id", "group", "points", "status", "value"]
        files["criteria"] = (pd.concat(met), told)
    for name, (frame, columns) in files.items():
        text = tables.csv_text(columns, frame[columns].itertuples(index=False))
        paths.write(own.folder / f"{name}.csv", text)
    frames.keep_texts(own.folder / f"{VERDICTS}.csv", made, f"{own.paper}/{own.name}")


def compared(name: str) -> comparison.Compared:
    """A study as models are compared in it, by its first judge, from its files alone.

    Raises BedsideError if it didn't run to its end.
    """
    import pandas as pd

    folder = settings.figures() / PAPER / name
    about, frame = _opened(folder)
    given = about["parameters"]
    judges = (given["judge"] or "").split()
    scored = "criteria" in given
    total = f"{ALL}: {'score' if scored else 'right'}, %"  # over all questions
    ending = f" ({judges[0]})" if len(judges) > 1 else ""
    rows = tables.read(folder / "table_scores.csv") if judges else []
    rows = [r for r in rows if r["column"] == total + ending]
    measures = tables.frame(r.values() for r in rows).rename(columns={"row": "model"})
    how = Display(name, name, "", status="reply_status")
    right = frame["value"] == "1"
    frame = frame.assign(truncated=frame["truncated"] == "1", right=right)
    frame["group"] = frame["group"].replace("", None)
    replies = comparison.shown(frame, how, PAPER, folder).assign(item=apart(frame))
    if scored:
        replies = replies.assign(score=pd.to_numeric(frame["value"]))
    told = "nobody judged"
    if judges:
        card = about["judges"].get(judges[0])
        told = comparison.judge_told(judges[0], card, given["models"])
        told += ", which was never measured" * (not card)
    alike = [about["data"].get("rubric"), about["prompts"], given.get("criteria")]
    study = comparison.Study(
        Path(about["questions"]).stem,
        measures.assign(measure=total),
        replies,
        ["group"] if frame["group"].notna().any() else [],
        ("own questions", *judges[:1], store.digest(alike)),
        told,
        "",
        folder,
        "score" if scored else comparison.RIGHT,
        about.get("fails_at", comparison.FAILS_AT),
    )
    return comparison.Compared(name, [study] if judges else [], _about(about))


def _opened(folder):
    """(manifest, answers with the verdicts of the first judge) of a study."""
    try:
        about = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        about["parameters"], about["data"], about["prompts"]  # what every one has
        answered, judged = (_read(folder / f"{part}.csv") for part in ("answers", VERDICTS))
        first = (about["parameters"]["judge"] or "").partition(" ")[0]
        on = ["item", "model", "unit", *["configuration"] * ("configuration" in answered)]
        made = joined(answered, judged[judged["judge"].isin([first, ""])][[*on, *VERDICT]], on)
    except (OSError, ValueError, KeyError) as e:
        there = sorted(p.parent.name for p in folder.parent.glob("*/verdicts.csv"))
        raise BedsideError(
            f"{paths.rel(folder.parent)} has no study {folder.name!r} that ran to its end ({e});"
            f" there are: {', '.join(there) or 'none'}"
        ) from None
    with contextlib.suppress(BedsideError):  # its texts may be elsewhere
        asked = frames.with_texts(folder / f"{VERDICTS}.csv").drop_duplicates("item")
        made["question"] = made["item"].map(asked.set_index("item")["question"])
    return about, made if "configuration" in made else made.assign(configuration="plain")


def _read(path: Path):
    import pandas as pd

    return pd.read_csv(path, dtype=str, keep_default_na=False)


def _about(manifest):
    """What a study rests on, in words or as digests: what comparisons name where it differs."""
    given = manifest["parameters"]
    usual = {"judge": "none", "models": "none", "limit": "none", "seed": "0"}
    usual |= {"repeats": "1", "temperature": "0", "criteria": "none"}
    told = {}
    for name, default in usual.items():
        value = given.get(name) or default
        told[name] = " ".join(value) if isinstance(value, list) else str(value)
    for model, replies in manifest.get("recordings", {}).items():
        if replies["returned"]:
            told[f"{model} answered as"] = ", ".join(replies["returned"])
    kept = [*manifest["data"].items(), ("prompts", store.digest(manifest["prompts"]))]
    for name, digest in kept:
        what = "answers made elsewhere" if name.startswith("answers") else name
        told[what] = comparison.Digest(told.get(what, "") + digest)
    return told
