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

HEARD = "4 consultations"


def case(row: Row) -> dict[str, list[dict]]:
    """The blocks that all consultations of a case share."""
    names = [row["true_diagnosis"], *row["accepted"]]
    return {
        f"meddialbench {row['item']}": [
            text("Patient", f"{row['profile']}\n{row['complaint']}"),
            text("What the patient knows", row["history"]),
            entries("Key items", row["key_items"]),
        ],
        f"meddialbench {row['item']} diagnosis": [text("True diagnosis", "; ".join(names))],
    }


def consultation(rows: list[Row]) -> list[dict]:
    """The consultation, how it ended, and what the patient was told to do."""
    r = rows[0]
    turns = [(who, pieces(said, script=places), notes) for who, said, places, notes in r["spoken"]]
    made = [dialogue("Consultation", turns), text("How it ended", r["ended"])]
    for heading, lines in (
        ("Behaviour script", r["directions"]),
        ("False statements of the script", r["lies"]),
    ):
        made += [entries(heading, lines)] if lines else []
    return made


def others(rows: list[Row]) -> list[dict]:
    """Verdicts on everything but the diagnosis."""
    made, shown = [], rows[0]["shown"]
    for r in rows:
        if r["correct"] == 0:
            made.append(other_verdict(r["judge"], "misled", SAYS.get(r["misled"], "")))
        if r["coverage"] is not None:
            count = len(r["key_items"])
            told = f"{r['coverage'] * count:.0f} of {count} key items"
            made.append(other_verdict(r["judge"], "coverage", told))
    return made + ([other_verdict(LEXICAL, "adherence", shown)] if shown else [])


def truth(row: Row) -> dict[str, list[dict]]:
    """The true diagnosis of a labelled one."""
    return {f"meddialbench {row['item']}": [text("True diagnosis", "; ".join(row["references"]))]}


def spoken(rows: list[Row]) -> list[dict]:
    """The labelled dialogue, if the diagnosis has one."""
    turns = rows[0]["turns"]
    speakers = ("Doctor", "Patient")
    told = [(who, pieces(said), []) for turn in turns or () for who, said in zip(speakers, turn)]
    return [dialogue("Consultation", told)] if turns is not None else []


def misled(rows: list[Row]) -> list[dict]:
    """Whether judges say that a wrong diagnosis was misled."""
    there = [r for r in rows if r["misled_judged"]]
    return [
        other_verdict(r["judge"], "misled", r["misled"] or "", r["misled_raw"] or "") for r in there
    ]


def labelled(rows: list[Row]) -> list[dict]:
    """The label of a diagnosis, with the other labels of its dialogue."""
    return [human_label(OURS, rows[0]["label"], reason=rows[0]["why"])]


DISPLAYS = (
    Display(
        "consultations",
        "05_vulnerability",
        HEARD,
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
