"""Logs of Inspect: several at once, a folder, epochs as repeats, their scorers beside ours."""

import shlex
import sys
from types import SimpleNamespace

import pytest

from bedside import BedsideError, own
from bedside.asking import registry
from bedside.own import steps
from bedside.read import questions
from conftest import apart, completion
from own_studies import compared

ANSWERS = {"one.eval": ("m/one", "2 3", "CC IC"), "two.json": ("m/two", "2 <|channel|>", "CI II")}


def log(name):
    """A log of two samples in two epochs; scores by sample, a letter for each epoch."""
    model, said, marks = ANSWERS[name.rpartition(" ")[2]]
    samples = []
    for n, (text, letters) in enumerate(zip(said.split(), marks.split())):
        for epoch, letter in enumerate(letters, 1):
            output = SimpleNamespace(completion=text, choices=[0], stop_reason="stop", error=None)
            score = {"match": SimpleNamespace(value=letter)}
            held = {"id": f"q{n}", "epoch": epoch, "output": output, "error": None}
            samples.append(SimpleNamespace(**held, scores=score))
    return SimpleNamespace(samples=samples, status="success", eval=SimpleNamespace(model=model))


@pytest.fixture
def folder(tmp_path, monkeypatch, endpoint):
    """A folder of two logs, beside two questions, and a judge for whom all is right."""
    apart(monkeypatch, tmp_path)
    reader = SimpleNamespace(read_eval_log=lambda path, **_: log(path.rpartition("/")[2]))
    monkeypatch.setitem(sys.modules, "inspect_ai.log", reader)
    (tmp_path / "logs").mkdir()
    for name in ("logs/one.eval", "logs/two.json", "logs/logs.json", "with blank one.eval"):
        (tmp_path / name).write_text(name)
    (tmp_path / "mine.csv").write_text("item,question\nq0,1 + 1?\nq1,1 + 2?\n")
    entry = {"provider": "test", "base_url": endpoint.url, "model": "j-1"}
    monkeypatch.setitem(registry.entries(), "j", registry.as_model("j", entry))
    endpoint.script = lambda n, body: completion('{"score": 1}')
    return tmp_path / "logs"


def test_several_logs_are_models_with_repeats_and_their_own_scores(folder, capsys):
    both = shlex.join(map(str, (folder / "one.eval", folder / "two.json")))
    assert questions.answer_files(both) == questions.answer_files(str(folder))
    found = compared(str(folder.parent / "mine.csv"), answers=str(folder), judge="j")
    models = ["m/one (from one.eval)", "m/two (from two.json)"]
    assert found.answers.groupby("model")["configuration"].nunique().to_dict() == {
        m: 2 for m in models
    }
    theirs = own.elsewhere(found.own, found.verdicts).set_index("row")
    assert set(theirs["column"]) == {"match (from the logs): mean"}
    # C C I C, and C I I I, beside a judge for whom all of them are right
    assert theirs["value"].to_dict() == dict(zip(models, [0.75, 0.25]))
    assert found.scores["value"].tolist() == [100, 100] and len(found.pairs)
    told = capsys.readouterr().out
    assert "2 answers of m/two (from two.json) have marks of channels" in told


def test_logs_of_the_working_folder_are_found_from_elsewhere(folder, monkeypatch):
    monkeypatch.chdir(folder)
    given = {"questions": str(folder.parent / "mine.csv"), "answers": "one.eval two.json"}
    _, taken = steps.begun({**given, "mode": "replay"})
    monkeypatch.chdir(folder.parent)
    assert questions.answer_files(taken["answers"]) == questions.answer_files(str(folder))


def test_one_log_with_a_blank_in_its_name_is_one_and_what_lacks_is_named(folder):
    found = compared(
        str(folder.parent / "mine.csv"), answers=str(folder.parent / "with blank one.eval")
    )
    assert set(found.answers["model"]) == {"m/one (from with blank one.eval)"}
    for given, told in {
        f"{folder}/one.eval {folder}/gone.json": "no file .*gone.json",
        str(folder.parent / "figures"): "no log",
    }.items():
        with pytest.raises(BedsideError, match=told):
            questions.answer_files(given)
