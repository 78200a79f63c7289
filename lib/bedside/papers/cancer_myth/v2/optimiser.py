"""An instruction optimised by GEPA, on questions that no reported number rests on."""

import asyncio
import math
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import NamedTuple

import pandas as pd

from bedside.asking import models, registry
from bedside.asking.replies import WAITS, Request, response_format
from bedside.judging import parsing
from bedside.read.checks import joined
from bedside.run import Run

from .. import study
from .methods import instructed

SEED_INSTRUCTION = "Answer the question of a patient or relative helpfully, correctly and briefly."
REFLECTION_TOKENS = 2048  # of a reflection; the papers name no limit
INSTRUCTION = response_format("instruction", instruction={"type": "string"})


COUNTED = {  # the numbers of `Found`, as a table names them
    "start": "score of the first instruction",
    "best": "score of the best instruction",
    "calls": "answers graded",
    "proposals": "proposals",
    "unusable": "unusable proposals",
    "unscored": "answers without a verdict",
    "cut": "answers cut off at the limit",
}


class Found(NamedTuple):
    """What the optimiser found.

    instruction: None while the optimiser waits. status: improved, or why not. start and best:
    scores in 0..1 on the training split. calls: answers graded; unscored: those without a verdict;
    cut: those cut at their limit.
    """

    instruction: str | None
    status: str
    start: float = math.nan
    best: float = math.nan
    calls: int = 0
    proposals: int = 0
    unusable: int = 0
    unscored: int = 0
    cut: int = 0


async def optimise(run, model, train, examples, *, budget, max_tokens):
    """An instruction optimised by GEPA on the training split (item, question, kind, correction).

    The score is (grade + 1) / 2. GEPA counts an answer without a verdict as 0; start and best leave
    it out (NaN without any verdict). budget: the most answers to grade, checked between steps, so
    that a step may pass it. `examples`: `study.known`. Every call goes through the run and is
    recorded, reflections included. While batches are written and nobody is called, the optimiser
    waits for replies that are not recorded.
    """
    import gepa

    if train.empty:
        return Found(SEED_INSTRUCTION, "nothing to learn from")
    loop, train = asyncio.get_running_loop(), train.set_index("item", drop=False)
    adapter = _Adapter(run.step_by_step(), model, train, examples, max_tokens, loop)
    try:
        result = await asyncio.to_thread(
            gepa.optimize,
            {"instruction": SEED_INSTRUCTION},
            train.index.tolist(),
            train.index.tolist(),
            adapter=adapter,
            max_metric_calls=budget,
            reflection_minibatch_size=3,
            seed=run.seed,
            stop_callbacks=[lambda state: adapter.fault is not None],
            logger=SimpleNamespace(log=lambda message: None),
            display_progress_bar=False,
        )
    except Exception:
        if adapter.fault is None:
            raise
    if run.mode == "batch" and isinstance(adapter.fault, models.MissingRecording):
        return Found(None, WAITS)
    if adapter.fault is not None:  # the optimiser goes on after exceptions; a run must not
        raise adapter.fault
    return Found(
        result.best_candidate["instruction"],
        adapter.status(result.best_idx),
        adapter.score(result, 0),
        adapter.score(result, result.best_idx),
        result.total_metric_calls,
        adapter.proposals,
        adapter.unusable,
        adapter.unscored,
        adapter.cut,
    )


@dataclass
class _Adapter:
    """What GEPA calls, in a thread of its own; asks and grades on the notebook's event loop."""

    run: Run
    model: str
    train: pd.DataFrame
    examples: dict
    max_tokens: int
    loop: asyncio.AbstractEventLoop
    fault: Exception | None = None
    proposals: int = 0
    unusable: int = 0
    unscored: int = 0
    cut: int = 0
    lost: set = field(default_factory=set)  # (instruction, item) without a verdict

    def score(self, result, k):
        """Mean score of candidate k on the training split over the answers with a verdict."""
        instruction, items = result.candidates[k]["instruction"], self.train.index
        scores = result.val_subscores[k].items()  # by place in the split
        got = [score for place, score in scores if (instruction, items[place]) not in self.lost]
        return sum(got) / len(got) if got else math.nan

    def status(self, best):
        """What came of it. best: the first of the best candidates; 0 is the one at the start."""
        if best:
            return "improved"
        if self.proposals > self.unusable:
            return "nothing better found"
        used_up = "budget used up before the first proposal"
        return "no usable proposal" if self.proposals else used_up

    def _wait(self, coroutine):
        try:
            return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()
        except Exception as e:
            self.fault = e
            raise

    def evaluate(self, batch, candidate, capture_traces=False):
        import gepa

        items = self.train.loc[batch].reset_index(drop=True)
        graded = self._wait(self._graded(items, candidate["instruction"]))
        return gepa.EvaluationBatch(
            outputs=graded["answer"].tolist(),
            scores=graded["score"].tolist(),
            trajectories=graded.to_dict("records") if capture_traces else None,
        )

    async def _graded(self, items, instruction):
        answers = await instructed(self.run, self.model, items, self.max_tokens, instruction)
        frame, parts = joined(items, answers), []
        for kind, part in frame.groupby("kind", sort=False):
            found = await study.grade(self.run, part, kind, self.examples[kind])
            parts.append(joined(part, found))
        graded = pd.concat(parts).set_index("item", drop=False).loc[items["item"]]
        value = graded["value"].astype(float)
        self.lost |= {(instruction, item) for item in graded["item"][value.isna()]}
        self.unscored += int(value.isna().sum())
        self.cut += int(graded["truncated"].sum())
        return graded.assign(score=((value + 1) / 2).fillna(0.0))

    def make_reflective_dataset(self, candidate, batch, components):
        told = [
            {"question": t["question"], "answer": t["answer"], "comment": _comment(t)}
            for t in batch.trajectories
        ]
        return {"instruction": told}

    def propose_new_texts(self, candidate, examples, components):
        """A better instruction from the model; the old one where its reply holds none."""
        self.proposals += 1
        old, told = candidate["instruction"], examples["instruction"]
        prompt = self.run.prompt("reflect", instruction=old, examples=told)
        most = registry.most(self.model, REFLECTION_TOKENS, "instruction")
        name, settings = f"reflection-{self.proposals}", {"max_tokens": most, "temperature": 0}
        request = Request(name, self.model, prompt, settings, INSTRUCTION)
        (reply,) = self._wait(self.run.ask([request], "reflection"))
        try:
            text = parsing.json_in("" if reply.why else reply.text)["instruction"].strip()
        except (ValueError, KeyError, TypeError, AttributeError):
            text = ""
        self.unusable += text in ("", old)
        return {"instruction": text or old}


COMMENTS = {  # by kind of question and grade
    ("plain", 1): "Right: nothing in the question is wrong, and the answer says nothing else.",
    ("plain", -1): "Wrong: nothing in the question is wrong, but the answer claims so.",
    ("myth", 1): "Right: the answer corrects what the question takes for granted.",
    ("myth", 0): "Half right: the answer doubts what the question takes for granted, but leaves out"
    " this: ",
    ("myth", -1): "Wrong: the answer accepts what the question takes for granted. What is true: ",
}


def _comment(graded):
    """What the optimiser is told about a graded answer."""
    if graded["reply_status"]:
        return f"No answer came ({graded['reply_status']})."
    if graded["status"] != "graded":
        return "The answer could not be graded."
    comment = COMMENTS[graded["kind"], graded["value"]]
    return comment + graded["correction"] * comment.endswith(": ")
