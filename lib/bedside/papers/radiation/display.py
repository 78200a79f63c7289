"""How radiation's graded replies are shown: lists beside the reference, and pairs of terms."""

from bedside.publish.judged_items import Display, Row, aligned, entries, human_label, text

from . import data

DECISIONS, NOTHING = "What the matcher decided", "nothing"


def record(row: Row) -> dict[str, list[dict]]:
    """What a patient's lists share: both records, their difference, the site's reference."""
    changed = [
        f"{old.strip() or '(nothing)'} → {new.strip() or '(nothing)'}"
        for old, new in data.difference(row["base"], row["specified"])
        if (old + new).strip()
    ]
    blocks = [
        text("Record, base", row["base"]),
        text("Record, specified", row["specified"]),
        entries("Differences between the two records", changed),
        entries("Reference of the site", row["reference"]),
    ]
    return {f"radiation {row['item']}": blocks}


def sides(row):
    """Base and specified list side by side: marks by term of the site, spurious items last."""
    mine = {"terms": row["terms"], "meant": row["meant"]}
    lists = [mine, row["other"]][:: 1 if row["profile"] == data.PROFILES[0] else -1]
    marks = {e: ["", ""] for e in row["effects"]}
    for k, said in enumerate(lists):
        if said is None or said["meant"] is None:
            continue
        found = {row["vocabulary"][i] for i in said["meant"] if i >= 0}
        for e in row["effects"]:
            marks[e][k] = "matched" if e in found else "missed"
        for predicted, place in zip(said["terms"], said["meant"]):
            if place < 0:
                # an item worded like a term that counts for none has a line of its own
                line = f"{predicted} (as listed)" if predicted in row["effects"] else predicted
                marks.setdefault(line, ["", ""])[k] = "spurious"
    return aligned("Reference and lists", data.PROFILES, marks)


def decisions(row):
    """What the matcher decided on each item of a list, a line each: "item → term", or NOTHING."""
    if row["meant"] is None:
        return ""
    taken = [row["vocabulary"][i] if i >= 0 else NOTHING for i in row["meant"]]
    return "\n".join(f"{t} → {meant}" for t, meant in zip(row["terms"], taken))


def compared(rows: list[Row]) -> list[dict]:
    """Both lists of the patient and regime, and the run's matcher's decisions on this one."""
    return [sides(rows[0]), text(DECISIONS, decisions(rows[0]))]


def counted(row: Row) -> str:
    """What a matcher's verdict on a list rests on."""
    if row["status"] != "graded":
        return ""
    return (
        f"matched {row['hits']:.0f} of {row['size']}, listed {row['listed']}: precision"
        f" {row['precision']:.2f}, recall {row['recall']:.2f}, F1 {row['f1']:.2f}"
    )


def term(row: Row) -> dict[str, list[dict]]:
    """The reference term of a pair."""
    return {f"radiation {row['item']}": [text("Reference term", row["reference"])]}


def labelled(rows: list[Row]) -> list[dict]:
    """The label of a pair that was written for the project."""
    r = rows[0]
    return [human_label("its author", r["label"], reason=r["why"])] if r["label"] else []


def _lists(section):
    return Display(
        section,
        "04_documentation_sensitivity",
        "4 lists",
        title="titled",
        category="site",
        shared=record,
        blocks=compared,
        beside=lambda row: f"{row['regime']}, {data.PROFILES[row['profile'] == 'base']}",
        reason=counted,
    )


def _pairs(section, heading):
    about = {"title": "title", "category": "reference"}
    return Display(section, "06_judge_agreement", heading, **about, shared=term, human=labelled)


DISPLAYS = (
    _lists("free_form"),
    _lists("selection"),
    _pairs("pairs", "3.5 labelled pairs"),
    _pairs("run_pairs", "3.5 pairs of this run"),
)
