"""How MedDialBench's consultations and labelled diagnoses are shown, turn by turn."""

from bedside.judging.judges import LEXICAL
from bedside.publish.judged_items import (
    Display,
    Row,
    dialogue,
    entries,
    human_label,
    other_verdict,
    pieces,
    text,
)

from .design import BASELINE
from .examples import OURS
from .frames import SAYS


def case(row: Row) -> dict[str, list[dict]]:
    """The blocks that all consultations of a case share."""
    return {
        f"meddialbench {row['item']}": [
            text("Patient", f"{row['profile']}\n{row['complaint']}"),
            text("What the patient knows", row["history"]),
            entries("Key items", row["key_items"]),
        ],
        f"meddialbench {row['item']} diagnosis": [text("True diagnosis", "; ".join(row["names"]))],
    }


def consultation(rows: list[Row]) -> list[dict]:
    """The consultation, how it ended, and what the patient was told to do."""
    r = rows[0]
    turns = [(who, pieces(said, script=places), notes) for who, said, places, notes in r["spoken"]]
    told = {"Behaviour script": r["directions"], "False statements of the script": r["lies"]}
    told = [entries(heading, lines) for heading, lines in told.items() if lines]
    return [dialogue("Consultation", turns), text("How it ended", r["ended"]), *told]


def others(rows: list[Row]) -> list[dict]:
    """Verdicts on everything but the diagnosis."""
    made = []
    for r in rows:
        if r["correct"] == 0:
            made.append(other_verdict(r["judge"], "misled", SAYS.get(r["misled"], "")))
        if r["coverage"] is not None:
            count = len(r["key_items"])
            told = f"{r['coverage'] * count:.0f} of {count} key items"
            made.append(other_verdict(r["judge"], "coverage", told))
    shown = rows[0]["shown"]
    return made + ([other_verdict(LEXICAL, "adherence", shown)] if shown else [])


def truth(row: Row) -> dict[str, list[dict]]:
    """The true diagnosis of a labelled one."""
    return {f"meddialbench {row['item']}": [text("True diagnosis", "; ".join(row["references"]))]}


def spoken(rows: list[Row]) -> list[dict]:
    """The labelled dialogue, if the diagnosis has one."""
    if rows[0]["turns"] is None:
        return []
    lines = [line for turn in rows[0]["turns"] for line in zip(("Doctor", "Patient"), turn)]
    return [dialogue("Consultation", [(who, pieces(said), []) for who, said in lines])]


def misled(rows: list[Row]) -> list[dict]:
    """Whether judges say that a wrong diagnosis was misled."""
    judged = [r for r in rows if r["misled_raw"] is not None]
    return [other_verdict(r["judge"], "misled", r["misled"] or "", r["misled_raw"]) for r in judged]


def labelled(rows: list[Row]) -> list[dict]:
    """The label of a diagnosis, with the other labels of its dialogue."""
    return [human_label(OURS, rows[0]["label"], reason=rows[0]["why"])]


DISPLAYS = (
    Display(
        "consultations",
        "05_vulnerability",
        "4 consultations",
        title="title",
        category="level",
        shared=case,
        blocks=consultation,
        more=others,
        beside=lambda row: "" if row["configuration"] == BASELINE else BASELINE,
    ),
    Display(
        "labelled",
        "01_design_and_validation",
        "3.5 labelled diagnoses",
        title="title",
        category="truth",
        shared=truth,
        blocks=spoken,
        more=misled,
        human=labelled,
    ),
)
