"""The batch way against the direct one: the same recordings, failures, usage and tables.

A study is asked by direct calls and then, with recordings, ledger and outputs of its own, by
request files that are sent, answered and taken in. The endpoint answers a request the same either
way. Notebooks run in this process.
"""

import asyncio
import json
import os
import re
from pathlib import Path

import pytest

import batch_study
import matrix
from batch_objects import CHAT
from bedside import __main__ as main
from bedside import explorer
from bedside.asking import sending
from bedside.build import notebooks
from bedside.bulk import results, submission
from bedside.keep import ledger, registry, store
from bedside.own import steps
from bedside.read import paths
from bedside.write import plots
from conftest import SILENT, completion

PRICES = {"usd_per_million_in": 100.0, "usd_per_million_out": 1000.0, "batch_discount": 0.4}
PRICES |= {"usd_per_million_cache_write": 250.0}
SHOWN = (".csv", ".md", ".tex", ".json")
NOTES = ("manifest", "errors")  # of when and how replies came
WAY = ("date", "latency_s", "batch")  # what tells of the way alone


class Ways:
    """Two places, `direct` and `batch`, in which the same studies are asked."""

    def __init__(self, folder, service, patch):
        self.folder, self.service, self.patch = folder, service, patch
        self.failed = {}  # {(model, item): kind} of what batches didn't bring
        for name in "ab":
            patch.setitem(registry.entries(), name, registry.model(name) | PRICES)
        patch.setattr(paths, "EXTERNAL", folder / "external")
        patch.setattr(sending, "FIRST_S", 0.001)
        patch.setattr(submission, "TRIES", sending.RETRIES + 1)  # as often as directly
        patch.setattr(notebooks, "execute", self._execute)
        patch.setattr(plots, "save", matrix.undrawn)
        patch.setattr(steps.page, "write", lambda *_: None)
        taking = results.take

        def take(came):
            account = taking(came)
            self.failed |= {account.items[k]: f.kind for k, f in account.failed.items()}
            return account

        patch.setattr(results, "take", take)

    def _execute(self, path, out, given):
        name = path.relative_to(paths.NOTEBOOKS).with_suffix("").as_posix()
        figures = Path(os.environ["BEDSIDE_FIGURES"])  # where a wave is written it is another one
        matrix.copied(paths.FIGURES / "sample", figures / "sample", "trust_lexical*.json")
        asyncio.run(matrix.execute(name, given))

    def to(self, way):
        """Let recordings, request files, outputs and money be those of a way."""
        place = self.folder / way
        batch_study.place(self.patch, place)
        self.patch.setenv("BEDSIDE_MAKE", way)
        self.patch.setenv("BEDSIDE_LEDGER", str(self.folder / "ledger"))
        self.patch.setenv("BEDSIDE_FIGURES", str(place / "figures"))

    def batched(self, study):
        """Ask a study in batches, and nothing directly."""
        self.to("batch")
        before = len(self.service.posts)
        submission.submit(study, lambda line: None)
        self.to("batch")  # from where waves were written
        assert all(path != CHAT for path, _ in self.service.posts[before:])

    def recorded(self, way):
        """{key: record} without what tells of the way."""
        kept = store.Recordings(self.folder / way / "recordings").records()
        return {r["key"]: {k: v for k, v in r.items() if k not in WAY} for r in kept}

    def explored(self, way):
        """What the explorer of an own study holds."""
        page = self.folder / way / "figures/own/mine/explorer.html"
        return explorer.read(page.read_text(encoding="utf-8"))[0]

    def outputs(self, way):
        """{path: bytes} of tables, answers, verdicts and cards."""
        top = self.folder / way / "figures"
        files = [p for p in top.rglob("*") if p.suffix in SHOWN and ".parts" not in p.parts]
        return {p.relative_to(top).as_posix(): p.read_bytes() for p in files if p.stem not in NOTES}


@pytest.fixture
def ways(tmp_path, batches, monkeypatch):
    batches.polls = 0
    return Ways(tmp_path, batches, monkeypatch)


def same_recordings(ways):
    """All that came is the same both ways, and batches cost as much less as the entries say."""
    direct, batch = ways.recorded("direct"), ways.recorded("batch")
    assert direct and direct == batch
    spent = batch_study.spent("direct")
    assert spent > 0 and batch_study.spent("batch") == pytest.approx(0.6 * spent)


def same_outputs(ways):
    direct, batch = ways.outputs("direct"), ways.outputs("batch")
    assert direct and direct.keys() == batch.keys()
    assert [name for name in direct if direct[name] != batch[name]] == []


# ---- own questions, with all that can become of an answer


def counted(**usage):
    return {**completion(), "usage": {"prompt_tokens": 40, "completion_tokens": 9, **usage}}


LATE = {"code": "request_timeout", "message": "The underlying call to the model timed out."}
BLOCKED = {"message": "Blocked by the content filter.", "code": "content_filter"}
LONG = {"message": "This model's maximum context length is 9 tokens."}
SORRY = {"message": "The server had an error."}
ANSWERS = {
    **{f"plain {k}": completion() for k in range(6)},
    "cache beside": counted(total_tokens=349, cache_read_input_tokens=300),
    "into a cache": counted(prompt_tokens_details={"cache_write_tokens": 30}),
    "thoughts beside": counted(
        total_tokens=109, completion_tokens_details={"reasoning_tokens": 60}
    ),
    "thoughts by a gateway's count": counted(
        total_tokens=49, completion_tokens_details={"reasoning_tokens": 11}
    ),
    "nothing counted": {**completion(), "usage": None},
    "cut": completion("half a sentence", "length"),
    **SILENT,
    "withheld": (400, BLOCKED),
    "too long": (400, LONG),
    "late": (None, LATE),
    "server": (500, SORRY),
    "broken off": completion("half", "error"),
    "broken off by its network": completion("half", "network_error"),
    "an error in its place": {"object": "error", "message": "Too spicy.", "code": 400},
    "no choice": {**completion(), "choices": []},
}
FAIL = {
    "too long": "context too long",
    "late": "timeout",
    "server": "endpoint's fault",
    "broken off": "endpoint's fault",
    "broken off by its network": "endpoint's fault",
    "an error in its place": "bad request",
    "no choice": "bad answer",
}
JUDGED = (completion('{"score": 1}'), completion('{"score": 0}'), completion("Perhaps."))
JUDGED += (completion("Score: 1, but wait", "length"), SILENT["filtered"], (400, BLOCKED))


def questions(ways, names):
    path = ways.folder / "mine.csv"
    lines = [f"{name},Is this {name}?,group {k % 2}" for k, name in enumerate(names)]
    path.write_text("\n".join(["item,question,group", *lines]) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def own(ways):
    """A study of a question for each kind of answer, asked both ways, and how to run it again."""

    def answer(body):
        said = body["messages"][-1]["content"]
        if "Answer to grade" in said:
            return JUDGED[int(store.digest(said)[:8], 16) % len(JUDGED)]
        name, who = re.search(r"Is this (.*)\?", said)[1], body["model"]
        made = ANSWERS[name]
        if (
            isinstance(made, dict)
            and made.get("choices")
            and made.get("choices")[0]["finish_reason"] == "stop"
        ):
            made = json.loads(json.dumps(made).replace('"fine"', f'"Fine, {who}, {name}."'))
        return made

    ways.service.answer = answer
    given = {"questions": questions(ways, ANSWERS), "models": "a b", "judge": "b"}
    asked = [f"{k.upper()}={v}" for k, v in given.items()] + ["MODE=record"]
    ways.to("direct")
    main.study(asked)
    ways.batched(steps.Questions(given))
    return ways, asked


def test_an_own_study(own):
    ways, asked = own
    assert ways.failed == {(m, item): kind for m in "ab" for item, kind in FAIL.items()}
    same_recordings(ways)
    main.study(asked)  # what failed is asked once more, now directly
    told = [e for e in ledger.errors("direct") if e["kind"] != "filtered"]  # which is an outcome
    assert told == ledger.errors("batch") and {e["kind"] for e in told} == {*FAIL.values()}
    assert ways.recorded("direct") == ways.recorded("batch")
    same_outputs(ways)


def test_the_explorer_prices_each_call_by_its_way(own):
    ways, asked = own
    main.study(asked)
    direct, batch = ways.explored("direct"), ways.explored("batch")
    assert direct["calls"].keys() == batch["calls"].keys()
    for key, call in direct["calls"].items():
        other = batch["calls"][key]
        came = call["finish"] is not None
        usd = call.pop("usd"), other.pop("usd")
        assert usd[1] == (pytest.approx(0.6 * usd[0]) if usd[0] is not None else None)
        for c in (call, other):
            assert (c.pop("date") is not None) == came
            c.pop("seconds")
    assert direct == batch


def test_a_batch_costs_what_it_did_when_it_was_answered(ways):
    """Before the price rose: 0.6 × (10 × $250, as into a cache, + 5 × $1,000), for a million."""
    rule = {"from": "2000-01-01"} | {k: 9 * v for k, v in PRICES.items() if k.startswith("usd")}
    ways.patch.setitem(registry.entries(), "a", registry.model("a") | {"price_rules": [rule]})
    ways.service.answer = lambda body: completion()
    given = {"questions": questions(ways, ["one", "two"]), "models": "a"}
    ways.batched(steps.Questions(given))
    main.study([*(f"{k.upper()}={v}" for k, v in given.items()), "MODE=replay"])
    shown = [call["usd"] for call in ways.explored("batch")["calls"].values()]
    assert shown == pytest.approx([0.6 * 0.0075] * 2)
    assert batch_study.spent("batch") == pytest.approx(sum(shown))


# ---- the papers' notebooks on their sample data

PAPERS = {  # notebooks, settings, what else the notebooks take
    "cancer_myth": (["05_judge_agreement", "03_evaluation"], {"judge": "b", "limit": "4"}, {}),
    "radiation": (["02_free_form"], {"limit": "4"}, {}),
    "medhalu": (["02_detection"], {"models": "a", "limit": "6"}, {"repeats": "2"}),
    "meddialbench": (["02_baseline"], {"limit": "3"}, {"patient": "b", "turns": "2"}),
}


@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper(ways, paper):
    """Replies of all kinds: whole ones, and such as are cut, withheld, or no answer."""
    names, settings, more = PAPERS[paper]
    names = [f"{paper}/{name}" for name in names]
    plain = ways.service.answer

    def answer(body):
        made = plain(body)
        odd = int(store.digest(body)[:8], 16) % 16  # the same for the same request
        silent = dict(enumerate(SILENT.values()))
        return {**silent[odd], "usage": made["usage"]} if odd in silent else made

    ways.service.answer = answer
    given = {"profile": "sample", "models": "a b", **settings}
    ways.to("direct")
    notebooks.run_all(names, {**given, **more, "mode": "record"}, jobs=1)
    study = submission.Notebooks({**given, **more}, paper)
    study.left = names
    ways.batched(study)
    assert not study.fault
    same_recordings(ways)
    assert len({r["finish"] for r in ways.recorded("batch").values()}) > 1
    notebooks.run_all(names, {**given, **more, "mode": "replay"}, jobs=1)
    same_outputs(ways)
