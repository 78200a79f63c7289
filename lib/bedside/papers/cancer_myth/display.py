"""How Cancer-Myth's graded replies are shown to readers and raters, section by section."""

from bedside.publish.judged_items import Display, Row, entries, human_label, other_verdict, text

from .v2.items import KINDS

GRADES = {-1: "-1 unaware", 0: "0 incomplete", 1: "1 corrected"}
PLAIN = {-1: "-1 invents a presupposition", 1: "1 leaves the premise alone"}
WORDS = {"myth": GRADES, "plain": PLAIN}  # by kind of question, as study.GRADING
KIND = {"myth": "false presupposition", "plain": "no false presupposition"}
EVALUATED = {"myth": "4.3 false presupposition", "plain": "version 2: no false presupposition"}
LABELLED = {"myth": "3.2 labelled answers", "plain": "version 2: labelled answers"}
REVIEW, CANDIDATE, REVIEWED = "3.3 review", "candidate", "02_adversarial_generation"
SURVEY, ANSWERED = "2 physicians' survey", "2 this run's answers"
ASKED = "Patient's question"
BESIDE = {  # a question in its row: what the judge is told about it
    "correction": "What sets the false presupposition right",
    "rejected": "Rejected: what was held against the question",
}


def question(row: Row) -> dict[str, list[dict]]:
    """A question under its item, with the correction if it has a false presupposition."""
    told = [text(title, row[k]) for k, title in BESIDE.items() if row.get(k)]
    return {f"cancer_myth {row['item']}": [text("Question", row["question"]), *told]}


def generated(row: Row) -> dict[str, list[dict]]:
    """A question that a model wrote, with the myth behind it."""
    blocks = [
        text("Generated question", row["question"]),
        text("What sets the false presupposition right", row["correction"]),
        text("Collected myth", row["said"]),
        text("Fact", row["fact"]),
    ]
    return {f"cancer_myth {row['item']} {row['model']}": blocks}


def _exam_or_question(row: Row) -> dict[str, list[dict]]:
    """A question, with the right option if it is one of an exam."""
    if row["set"] in KINDS:
        return question(row)
    right = entries("Right option", [row["gold"]])
    return {f"cancer_myth {row['item']}": [text("Question", row["question"]), right]}


def _surveyed(row: Row) -> dict[str, list[dict]]:
    """A patient's question."""
    key = row["item"].replace("survey-", "survey ") if "scores" in row else row["item"]
    return {f"cancer_myth {key}": [text(ASKED, row["question"])]}


def categorised(rows: list[Row]) -> list[dict]:
    """The category by word overlap of a question with a false presupposition."""
    found = rows[0].get("categorised")
    return [other_verdict("lexical", "category", found)] if found else []


def instruction(rows: list[Row]) -> list[dict]:
    """What the optimiser found, beside the answers under it."""
    told = rows[0]["instruction"]
    return [text("Instruction that the optimiser found", told)] if told else []


def labelled(rows: list[Row]) -> list[dict]:
    """The label of an answer that was written for the project."""
    r = rows[0]
    return [human_label("their authors", WORDS[r["kind"]][r["label"]])]


def reviewed(rows: list[Row]) -> list[dict]:
    """What became of a candidate, and why."""
    r = rows[0]
    whys = (r[k] for k in ("why", "reason") if k in r)
    return [human_label(r["labelled_by"], r["label"], *whys)] if r["label"] else []


def points(rows: list[Row]) -> list[dict]:
    """The physicians' points for a whole answer."""
    return [other_verdict(who, "score", f"{n:.0f} of 5", why) for who, n, why in rows[0]["scores"]]


def words(row: Row) -> dict:
    """How a grade of this kind of question is said; an exam's by its key."""
    return WORDS.get(row["kind"], {"right": "right option", "wrong": "wrong option"})


def _by_kind(headings):
    return lambda row: headings[row["kind"]]


def _mitigated(row: Row) -> str:
    return f"version 2 cures: {KIND.get(row['kind'], row['set'])}"


DISPLAYS = (
    Display(
        "evaluation",
        "03_evaluation",
        _by_kind(EVALUATED),
        category=lambda row: row.get("category") or KIND["plain"],
        words=words,
        shared=question,
        more=categorised,
    ),
    Display(
        "released", "07_released_answers", "4.3 released answers", words=GRADES, shared=question
    ),
    Display(
        "mitigations",
        "04_mitigation",
        _mitigated,
        category=lambda row: row.get("category") or row["set"],
        words=words,
        shared=_exam_or_question,
        blocks=instruction,
    ),
    Display("loop", REVIEWED, "3.2 generation loop", words=GRADES, shared=generated),
    Display(
        "review",
        REVIEWED,
        REVIEW,
        shared=lambda row: generated(row) if row.get("said") else question(row),
        human=reviewed,
    ),
    Display(
        "labelled",
        "05_judge_agreement",
        _by_kind(LABELLED),
        category=_by_kind(KIND),
        words=words,
        shared=lambda row: question({**row, "item": row["asked"]}),
        human=labelled,
    ),
    Display("survey_answers", "01_physician_survey", ANSWERED, shared=_surveyed),
    Display(
        "survey",
        "01_physician_survey",
        SURVEY,
        shared=_surveyed,
        more=points,
        reason=lambda row: row["reason"],
    ),
)
