"""Answers that a rubric gives points: which of them fail, by default and by the rubric's limit."""

import json
import re
from collections import Counter

import pytest

from bedside import BedsideError, explorer, own
from bedside.asking import registry
from bedside.own import rubrics
from conftest import apart, completion
from own_studies import compared

MET = ["a b c", "a b", "a c", "a", "b", "none"]  # what answers do, each four times
RUBRICS = {  # {what a rubric says: (its text, its limit in percent, how many kinds fail)}
    # 17, 33, 0 and 50%; .1 + .2 is half of .6, though not in binary
    "half by default": (".1,names a,\n.2,names b,\n.3,names c,\n", 50, 4),
    # 0% alone
    "a limit of its own": ("5,names a,0\n3,names b,\n2,names c,\n", 0, 1),
}


@pytest.mark.parametrize("kind", RUBRICS)
def test_a_score_between_worst_and_best_is_a_score(kind, endpoint, tmp_path, monkeypatch):
    """Of 25 answers the judge can't decide on the last."""
    rubric, limit, kinds = RUBRICS[kind]

    def reply(_, body):
        text = body["messages"][-1]["content"]
        if body["model"] != "judge":
            n = int(re.search(r"number (\d+)", text)[1])
            return completion(f"It is: {MET[n % 6]}." if n < 24 else "It is: unsaid.")
        does, named = re.search(r"It is: (.*)\.", text)[1], re.search(r"names (\w)", text)[1]
        told = json.dumps({"score": int(named in does.split())})
        return completion("Perhaps." if does == "unsaid" else told)

    endpoint.script = reply
    apart(monkeypatch, tmp_path)
    for name in ("small", "judge"):
        entry = {"provider": "test", "base_url": endpoint.url, "model": name}
        monkeypatch.setitem(registry.entries(), name, registry.as_model(name, entry))
    (tmp_path / "rubric.csv").write_text("points,criterion,fails_at\n" + rubric)
    lines = [f"q{n},What is number {n}?" for n in range(25)]
    (tmp_path / "mine.csv").write_text("\n".join(["item,question", *lines]))
    given = {"models": "small", "judge": "judge", "criteria": "each"}
    given["rubric"] = str(tmp_path / "rubric.csv")
    found = compared(str(tmp_path / "mine.csv"), **given)
    assert found.scores["n"].iloc[0] == 24
    alike = own.lengths(found.own, found.verdicts).set_index("column")
    assert alike["n"].tolist()[0] == 24 and 0 < alike["value"].iloc[0] < 1  # more words, more met
    (axes,) = own.length_figure(found.own, found.verdicts).axes
    assert (axes.get_title(), axes.get_ylabel(), len(axes.lines[0].get_xdata())) == (
        *("small", "score, %"),
        24,
    )
    page = explorer.html(own.document(found.own, found.verdicts))
    content, shown = explorer.read(page)
    rights = Counter(v["right"] for r in content["rows"] for v in r["verdicts"])
    assert rights == {False: 4 * kinds, True: 24 - 4 * kinds, None: 1}
    assert f"at most {limit}% of the points" in shown


def test_scores_below_0_stay_as_they_are(endpoint, tmp_path, monkeypatch):
    """All of twenty answers do nothing but what has negative points: 4 of 2 possible ones."""
    apart(monkeypatch, tmp_path)
    stated = '{"criterion_1": 0, "criterion_2": 1, "criterion_3": 0}'
    endpoint.script = lambda _, body: completion(stated)
    entry = {"provider": "test", "base_url": endpoint.url, "model": "m"}
    monkeypatch.setitem(registry.entries(), "m", registry.as_model("m", entry))
    (tmp_path / "r.csv").write_text("points,criterion\n2,helps\n-4,harms\n-1,lectures\n")
    lines = [f"q{n},What is number {n}?" for n in range(20)]
    (tmp_path / "mine.csv").write_text("\n".join(["item,question", *lines]))
    theirs = [f"q{n},theirs,No." for n in range(20)]
    (tmp_path / "theirs.csv").write_text("\n".join(["item,model,answer", *theirs]))
    given = {"answers": str(tmp_path / "theirs.csv")}
    found = compared(
        str(tmp_path / "mine.csv"), **given, models="m", judge="m", rubric=str(tmp_path / "r.csv")
    )
    assert found.scores["value"].tolist() == [-200] * 2
    asked = endpoint.bodies[-1]["response_format"]["json_schema"]["schema"]["properties"]
    assert endpoint.bodies[-1]["max_tokens"] == 1000 + 3 * 16  # a verdict's, and each criterion's
    assert list(asked) == ["criterion_1", "criterion_2", "criterion_3"]
    assert found.own.lowest == -2.5  # of 2 possible points
    assert found.scores["low"].ge(-250).all() and found.pairs["value"].iloc[0] == 0
    assert own.compared("mine").studies[0].replies["score"].eq(-2).all()


LIMITS = [("r.md", "Fails at: 60 %\n\n- 5: names a\n- 3: names b\n", 0.6)]
LIMITS += [("r.md", "# A rubric\n- 5: names a\n  Fails at: noon\n", 0.5)]  # a criterion's text
LIMITS += [("r.jsonl", '{"criterion": "x", "points": 1, "fails_at": 70}\n', 0.7)]
LIMITS += [("r.csv", "criterion,points,fails_at\nx,1,30\ny,1,30%\n", 0.3)]
LIMITS += [("r.csv", "criterion,points,fails_at\nx,1,-10%\n", -0.1)]
HEAD = "criterion,points,fails_at\n"
NONE = [("r.md", "- 5: names a\n\nFails at: half\n", "line 1")]
NONE += [("r.csv", f"{HEAD}x,1,30\ny,1,40\n", "line 3, column fails_at: '40'")]
NONE += [("r.csv", f"{HEAD}x,1,{x}\n", "line 2") for x in ("100", "nan", "1/0")]


@pytest.mark.parametrize("name, text, limit", LIMITS + NONE)
def test_a_rubric_may_say_which_score_still_fails(tmp_path, name, text, limit):
    (tmp_path / name).write_text(text)
    if isinstance(limit, str):  # where what is none is told
        with pytest.raises(BedsideError, match=f"{limit}.*one percentage of the points"):
            rubrics.fails_at(tmp_path / name)
    else:
        assert rubrics.fails_at(tmp_path / name) == limit
        assert rubrics.criteria(tmp_path / name, ["q"])["q"][0].points > 0
