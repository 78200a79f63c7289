"""Whole notebooks at settings between their ends, over scripted models: what a run wrote.

    models = {"fake-warm": needs("temperature", 0.4)}
    made = ran("cancer_myth/03_evaluation", models, temperature=0.4)
    made.row("fig6a_scores", "fake-warm", "PCR").value

One run serves several tests. Each sets apart what its parameter does: most often by a model that
answers only where the request carries the value that was asked for.
"""

import json
import tempfile
from pathlib import Path

import pandas as pd
import pytest

from bedside.asking import registry, sending
from bedside.build import notebooks
from bedside.read import paths
from bedside.write import plots
from conftest import with_fields
from matrix import FAKES, House, right, send, undrawn

BLANK = " \n"  # no answer


class Ran:
    """What a run wrote and sent, read once; the house is gone."""

    def __init__(self, house, sent, space, stopped):
        self.frames = {p.stem: pd.read_csv(p) for p in house.figures.rglob("*.csv")}
        self.told = {p.stem: p.read_text("utf-8") for p in house.figures.rglob("*.md")}
        self.sent, self.space, self.stopped = sent, space, stopped

    def graded(self, section):
        return self.frames[f"graded_{section}"]

    def rows(self, table, source="run"):
        """A table's rows of one source, with row and column as the index."""
        found = self.frames[table]
        return found[found["source"] == source].set_index(["row", "column"]).sort_index()

    def row(self, table, row, column, source="run"):
        """The one row with these labels: value, n and unscored are its parts."""
        found = self.rows(table, source).loc[[(row, column)]]
        assert len(found) == 1, (table, row, column)
        return found.iloc[0]


def form_of(request):
    """The name of the format in which a request wants its reply; "" for text."""
    return (request.response_format or {"json_schema": {"name": ""}})["json_schema"]["name"]


def text_of(request):
    """All that a request shows a model."""
    return "\n".join(m["content"] for m in request.messages)


def needs(name, value, says=right, form=""):
    """A model without an answer to requests of a form that don't carry this setting."""
    wanted = (form, value)
    return lambda r: (
        BLANK if form_of(r) == form and (form, r.body().get(name)) != wanted else says(r)
    )


def long(request):
    """A text of as many words as the request allows, cut there."""
    words = request.body()["max_tokens"]
    return {"text": "word " * words, "finish": "length"}


def as_long_as_asked(request):
    """A text of as many words as the prompt asks for."""
    words = text_of(request).partition("in about ")[2].partition(" words")[0]
    return "word " * int(words)


def panel(request):
    """A model that plays all agents of a panel of two, which never agree.

    A first view has the word zeta as often as its limit allows, a later one once; the report and
    the answer have it as often as they were shown it.
    """
    told = request.messages[0]["content"]
    if form := form_of(request):
        plan = {"panel": {"experts": ["a nurse", "a surgeon"]}, "instruction": {}}
        plan["verdict"] = {"complexity": "intermediate", "agreed": "no"}
        return json.dumps(plan[form])
    if "the moderator" in told or "You are a clinician" in told:
        return "zeta " * (text_of(request).count("zeta") or 1)
    return "zeta " * (1 if "zeta" in text_of(request) else request.body()["max_tokens"])


def sample(name):
    """The rows of a bundled file, <paper>/<name>."""
    text = (paths.DATA / f"sample/{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def ran(name, /, fakes=None, files=None, *, entries=None, patched=(), before=(), until="", **given):
    """A notebook run in a house of its own; record is its mode unless another is given.

    fakes: {name of a model: what it says to a request}; files: {name: text} in the folder that
    FOLDER stands for in what is given; entries: {model: more of its entry in the registry};
    patched: (object, attribute, value) each; before: (notebook, other settings) each, run first
    (`stopped`: after how many requests a budget ended them); until: as `House.run`.
    """
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        place, sent = Path(folder), []
        for file, text in (files or {}).items():
            (place / file).parent.mkdir(parents=True, exist_ok=True)
            (place / file).write_text(text, encoding="utf-8")
        for fake, says in (fakes or {}).items():
            patch.setitem(FAKES, fake.removeprefix("fake-"), says)
        patch.setattr(plots, "save", undrawn)
        house = House(patch, place / "house")
        for fake, more in (entries or {}).items():
            patch.setitem(registry.entries(), fake, with_fields(fake, **more))

        async def heard(endpoint, request):
            sent.append(request)
            return await send(endpoint, request)

        patch.setattr(sending, "send", heard)
        for target, attribute, value in patched:
            patch.setattr(target, attribute, value)
        told = {"mode": "record"} if "mode" in notebooks.parameters(name) else {}
        told |= {k: str(v).replace("FOLDER", folder) for k, v in given.items()}
        stopped = []
        for notebook, settings in before:
            try:
                have = notebooks.parameters(notebook)
                house.run(notebook, **{k: v for k, v in told.items() if k in have} | settings)
            except registry.StopRun as stop:
                stopped.append((len(sent), str(stop)))
        space = house.run(name, until=until, **told)
        return Ran(house, sent, space, stopped)
