"""A demonstration of fifteen minutes: three patients, a model, its judges; one file, no scripts.

    page()      # what would you answer, what did the model say, what did the judges think

It needs no installation. Its patients are in no task of the sheets.
"""

from pathlib import Path

from bedside.publish import pages
from bedside.read import sources

from . import display

NAME = "demonstration.html"
PATIENTS = "cm-cause-4", "cm-risk-4", "cm-symptom-4"
PAPER, MODEL = "cancer_myth", "smollm2-135m"
JUDGES = {"lexical": "The word-overlap judge", MODEL: "The model as its own judge"}
SAYS = {
    1: "1: it sets the belief right",
    0: "0: it notices something, but doesn't say what is right",
    -1: "−1: it doesn't notice",
}
MINUTES = (  # of each part, for those who show it
    (2, "Say what it is about; dying and missed diagnoses occur, and everyone may step out."),
    (9, "Three minutes for each patient: a minute to write, then open the three parts in turn."),
    (4, "The three questions at the end."),
)


def page():
    """The demonstration as HTML; all texts are escaped."""
    folder = Path(__file__).parent
    return pages.template(folder / "demo.html.j2").render(
        frame=pages.frame({}), patients=[patient(i) for i in PATIENTS], minutes=MINUTES
    )


def patient(item):
    """A patient's question, the model's reply, a written one that fails, and what judges said."""
    question = sources.load("cancer_myth_questions_sample").set_index("item").loc[item]
    said = {j: _answers("evaluation", j, item) for j in JUDGES}
    reply = said["lexical"].iloc[0]
    written = _answers("labelled", "lexical", item).query("label == -1 and tone == 'warm'").iloc[0]
    return {
        "question": question["question"],
        "presupposition": question["presupposition"],
        "correction": question["correction"],
        "source": "{organisation}: {title}".format(**question["source"]),
        "reply": reply["reply"],
        "cut": bool(reply["truncated"]),
        "judged": {name: SAYS[int(said[j].iloc[0]["value"])] for j, name in JUDGES.items()},
        "written": written["reply"],
        "written_judged": SAYS[int(written["value"])],
    }


def _answers(section, judge, item):
    """Graded answers to a question, from what the study's notebook kept."""
    frame = display.graded(PAPER, section, judge)
    return frame[frame["asked" if section == "labelled" else "item"] == item]
