"""Parameters of own studies and of checks of a paper, between their ends, to their numbers."""

import json

from parameter_runs import needs, ran, text_of

OWN = "own_study"
QUESTIONS = [f"q{k}" for k in range(6)]  # of which the first four are asked
FILES = {
    "questions.csv": "item,question,reference,group\n"
    + "".join(f"{q},Is {q} so?,Yes it is.,a\n" for q in QUESTIONS),
    "answers.csv": "item,model,answer\nq0,elsewhere,Yes it is.\nq1,elsewhere,No.\n",
    "labels.csv": "item,model,label\nq0,elsewhere,1\nq1,elsewhere,0\nq2,fake-warm,1\n",
    "rubric.csv": "criterion,points,id,item\nis given,5,all,\nis more,3,more,q1\n",
}
GIVEN = dict(
    questions="FOLDER/questions.csv", models="fake-warm", judge="fake-judge", limit="4", repeats=3
)


def judge(request):
    """Grades 0 what says no; a criterion is met unless it asks for more."""
    ((name, form),) = request.response_format["json_schema"]["schema"]["properties"].items()
    bad = any(words in text_of(request) for words in ("No.", "is more"))
    return json.dumps({name: min(form["enum"]) if bad else max(form["enum"])})


def test_a_study_of_ones_own_is_made_as_its_parameters_say():
    """The first four of six questions, thrice of a model that needs 0.5, and two answers brought.

    Three of the answers have a label; by these the judge makes no error.
    """
    fakes = {"fake-warm": needs("temperature", 0.5, lambda r: "Yes it is."), "fake-judge": judge}
    given = GIVEN | dict(name="middle", temperature=0.5, answers="FOLDER/answers.csv")
    made = ran(OWN, fakes, FILES, labels="FOLDER/labels.csv", **given)
    assert {*made.frames["answers"]["item"]} == {*QUESTIONS[:4]}
    assert made.space["run"].folder.name == "middle"
    assert "kappa 1.00 on 3 labelled answers" in made.told["table_corrected"]
    brought = "elsewhere (from answers.csv)"  # one of two is right
    for model, share, n, lost in (("fake-warm", 100, 4 * 3, 0), (brought, 50, 2, 2)):
        scored = made.row("table_scores", model, "all: right, %")
        assert (scored.value, scored.n, scored.unscored) == (share, n, lost)
        assert made.row("table_corrected", model, "corrected, %").value == share


def test_rubric():
    """Criteria with points in the place of right and wrong: one for all, another for q1 alone."""
    fakes = {"fake-judge": judge, "fake-warm": lambda r: "Yes it is."}
    made = ran(OWN, fakes, FILES, rubric="FOLDER/rubric.csv", answers="", **GIVEN)
    scored = made.row("table_scores", "fake-warm", "all: score, %")
    assert (scored.value, scored.n) == (100 * (3 + 5 / 8) / 4, 4 * 3)
