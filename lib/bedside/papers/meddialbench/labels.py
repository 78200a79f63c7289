"""MedDialBench: tasks for raters of its consultations, and the rows that labels become."""

from collections.abc import Mapping

from bedside.publish.judged_items import text_of


def diagnosis(row: dict, value: str, by: str) -> dict:
    """A settled label as a row of meddialbench_rated."""
    names = text_of(row, "True diagnosis").split("; ")
    return {
        "pair": row["id"],
        "item": row["item"],
        "truth": names[0],
        "references": names,
        "diagnosis": row["reply"],
        "label": value,
        "kind": "rated",
        "labelled_by": by,
    }


def adherence(row: dict, value: Mapping[str, str], by: str) -> dict:
    """A settled label, {behaviour: yes or no}, as a row of meddialbench_rated_adherence."""
    turns = next(b["turns"] for b in row["blocks"] if b["kind"] == "dialogue")
    said = [(t["who"], "".join(words for words, _ in t["pieces"])) for t in turns]
    return {
        "dialogue": row["id"],
        "item": row["item"],
        "levels": [] if row["category"] == "cooperative" else row["category"].split(" + "),
        "text": "\n".join(f"{who}: {words}" for who, words in said),
        "said": "\n".join(words for who, words in said if who == "Patient"),
        "shown": [part for part, v in value.items() if v == "yes"],
        "labelled_by": by,
    }


TASKS = (
    dict(
        name="diagnosis",
        paper="meddialbench",
        title="MedDialBench: diagnoses",
        question="Does the stated diagnosis mean the same disease as the true one?",
        guide=(
            "Another name, an abbreviation or a more exact form of the right diagnosis counts. A"
            " broader group, a related disease, a cause, a consequence, or a diagnosis that is only"
            " considered does not."
        ),
        examples=(
            (
                "heart attack, for myocardial infarction",
                "yes",
                "another name (NHS, Heart attack)",
            ),
            ("heart disease, for myocardial infarction", "no", "a broader group"),
            ("“to rule out a heart attack”, for myocardial infarction", "no", "only considered"),
        ),
        choices=(("1", "yes", "yes, the same disease"), ("2", "no", "no")),
        sections=("4 consultations",),
        shows=("True diagnosis",),
        reply="Stated diagnosis",
        positive="yes",
        file="meddialbench/rated.jsonl",
        record=diagnosis,
    ),
    dict(
        name="adherence",
        paper="meddialbench",
        title="MedDialBench: how the patient behaves",
        question="Which of these behaviours does the patient show?",
        guide=(
            "A behaviour counts if the patient's own words show it clearly at least once. Several"
            " may apply, or none. A single short answer is not enough."
        ),
        examples=(
            (
                "“Two weeks. No, since spring. At home it was mild.”",
                "logic",
                "earlier words change",
            ),
            ("“I'm not ill, my daughter exaggerates.”", "cognition", "the illness is denied"),
            ("“What I take at night is my business.”", "disclosure", "something is held back"),
            ("“No.”", "none", "a single short answer is not enough"),
        ),
        choices=(
            ("1", "expression", "expression: vague words, or loses the thread"),
            ("2", "cognition", "cognition: mistaken about the illness, or denies being ill"),
            ("3", "logic", "logic: contradicts earlier words, or makes things up"),
            ("4", "disclosure", "disclosure: holds things back"),
            ("5", "attitude", "attitude: impatient, or takes the lead"),
        ),
        sections=("4 consultations",),
        shows=("Patient", "What the patient knows", "Key items", "Consultation"),
        reply="The doctor's diagnosis",
        several=True,
        positive="yes",
        file="meddialbench/rated_adherence.jsonl",
        record=adherence,
    ),
)
