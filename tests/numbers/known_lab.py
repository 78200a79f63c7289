"""An own study whose answers and verdicts are scripted, in a folder of its own."""

import asyncio
import json
import re

import pandas as pd
import pytest

import matrix
from bedside import __main__ as main
from bedside import annotation, explorer, own
from bedside.asking import registry, sending
from bedside.build import notebooks
from bedside.own import steps
from bedside.write import plots
from conftest import SILENT, apart, completion

MODELS, JUDGE = "abcdef", "judge"
# USD a million tokens: a call, of 10 and 5 tokens, costs 0.006, and 0.02
PRICES = {False: (100.0, 1000.0), True: (1000.0, 2000.0)}  # of a model, of a judge

# What a model answers where it isn't "Answer <letter> of <model> to <number>."
NO_ANSWER = {
    "t": (504, {}, {"error": {"message": "upstream took too long"}}),
    "c": (400, {}, {"error": {"message": "maximum context length exceeded"}}),
    "f": SILENT["filtered"],
    "n": SILENT["refused"],
    "b": SILENT["blank"],
    "e": completion("half of it, and", "error"),  # paid for nevertheless
}
CUT = "x"  # an answer that is cut, and judged as it is
ONE, ZERO = '{"score": 1}', '{"score": 0}'
SAYS = {  # the judge, of a letter: P is a wrong answer called right, N a right one called wrong
    **dict.fromkeys("RPx", ONE),
    **dict.fromkeys("WN", ZERO),
    "u": "Perhaps.",
    "v": completion("Score: 1, but wait, this contradicts the ref", "length"),
    "g": SILENT["filtered"],
}
PEOPLE = dict.fromkeys("RN", "1") | dict.fromkeys("WP", "0")


class Lab:
    """Studies of questions 0, 1, ... on models that answer, and judges that say, what is known."""

    def __init__(self, folder, endpoint, patch, capsys):
        self.folder, self.capsys, self.endpoint = folder, capsys, endpoint
        self.truth = {}
        self.asks = "Is it so in number"
        endpoint.script = self._script
        for name in (*MODELS, JUDGE):
            usd_in, usd_out = PRICES[name == JUDGE]
            entry = {"provider": "test", "base_url": endpoint.url, "model": name}
            entry |= {"usd_per_million_in": usd_in, "usd_per_million_out": usd_out}
            patch.setitem(registry.entries(), name, registry.as_model(name, entry))
        apart(patch, folder)
        patch.setattr(sending, "FIRST_S", 0.001)
        patch.setattr(notebooks, "execute", self._execute)
        patch.setattr(plots, "save", matrix.undrawn)
        patch.setattr(steps.page, "write_own", lambda *_: None)  # of an executed notebook

    def _script(self, n, body):
        said = body["messages"][-1]["content"]
        if judged := re.search(r"Answer (\w) of", said.rpartition("Answer to grade")[2]):
            reply = SAYS[judged[1]]
            return completion(reply) if isinstance(reply, str) else reply
        k = int(re.search(r"number (\d+)", said)[1])
        letter = self.truth[body["model"]][k]
        text = f"Answer {letter} of {body['model']} to {k}."
        return NO_ANSWER.get(letter) or completion(text, "length" if letter == CUT else "stop")

    def _execute(self, path, out, given):
        asyncio.run(matrix.execute(path.stem, given))

    def questions(self, size, unit=1):
        """A file of questions; unit: how many share one."""
        lines = [
            f"q{k:02},{self.asks} {k}?,Yes.,{'even odd'.split()[k % 2]},u{k // unit:02}"
            for k in range(size)
        ]
        path = self.folder / "mine.csv"
        text = "\n".join(["item,question,reference,group,unit", *lines])
        path.write_text(text + "\n", encoding="utf-8")
        return path

    def study(self, truth, unit=1, **given):
        """Plan and run a study; how many calls were made, and what was printed at last."""
        self.truth = truth
        path = self.questions(len(next(iter(truth.values()))), unit)
        given = {"questions": path, "models": " ".join(truth), "judge": JUDGE, **given}
        given = {k: str(v) for k, v in given.items()}
        before = len(self.endpoint.bodies)
        main.study({**given, "mode": "plan"})
        assert len(self.endpoint.bodies) == before
        main.study(given)
        return self.capsys.readouterr().out

    def table(self, table):
        """A table as written, by row and column."""
        path = self.folder / f"figures/own/mine/{table}.csv"
        return pd.read_csv(path).set_index(["row", "column"])

    def label(self):
        """Let people label all answers by their letters."""
        content, _ = explorer.read((self.folder / "figures/own/mine/explorer.html").read_text())
        record = annotation.tasks()["own"].record
        lines = [record(r, PEOPLE[r["reply"][7]], "Ann") for r in annotation.rows(content)]
        path = own.rated("mine")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")

    def card(self):
        return json.loads((self.folder / f"figures/own/mine/trust_{JUDGE}.json").read_text())


@pytest.fixture
def lab(tmp_path, endpoint, monkeypatch, capsys):
    return Lab(tmp_path, endpoint, monkeypatch, capsys)
