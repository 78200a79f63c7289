"""A demonstration of fifteen minutes: three patients, a model, its judges; one file, no scripts.

It needs no installation. Its patients are in no task of the sheets.
"""

from pathlib import Path

from bedside.publish import pages
from bedside.read import sources

from . import sheets

NAME = "demonstration.html"
PATIENTS = "cm-cause-4", "cm-risk-4", "cm-symptom-4"
FOOLED = "smollm2-135m"  # a judge that calls each of the model's 42 replies corrected
JUDGES = {
    "lexical": "Word overlap, without a model",
    FOOLED: "A language model (SmolLM2, 135 million parameters)",
}
SAYS = {1: "1: sets the belief right", 0: "0: notices something", -1: "−1: doesn't notice"}


def page():
    """The demonstration as HTML; all texts are escaped."""
    graded = {j: sheets.graded("cancer_myth", "evaluation", sheets.LARGER, j) for j in JUDGES}
    myths = {j: frame[frame["kind"] == "myth"] for j, frame in graded.items()}
    share = {
        JUDGES[j]: (int((frame["value"] == 1).sum()), len(frame)) for j, frame in myths.items()
    }
    return pages.template(Path(__file__).with_name("demo.html.j2")).render(
        frame=pages.frame({}), patients=[patient(i, graded) for i in PATIENTS], share=share
    )


def patient(item, graded):
    """A patient's question, the model's reply, what isn't so, and the judges' grades."""
    question = sources.load("cancer_myth_questions_sample").set_index("item").loc[item]
    rows = {j: frame.set_index("item").loc[item] for j, frame in graded.items()}
    return {
        "question": question["question"],
        "presupposition": question["presupposition"],
        "correction": question["correction"],
        "source": "{organisation}: {title}".format(**question["source"]),
        "reply": rows["lexical"]["reply"],
        "judged": {JUDGES[j]: SAYS[int(row["value"])] for j, row in rows.items()},
    }
