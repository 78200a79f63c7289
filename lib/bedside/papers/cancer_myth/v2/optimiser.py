"""Cancer-Myth, second version: an instruction optimised by GEPA on questions that no reported number rests on."""

import asyncio
import json
from typing import NamedTuple

from bedside.models import Request, response_format
from bedside.papers.cancer_myth.v2.methods import instructed
from bedside.papers.cancer_myth.v2.mitigation import grade_myth, grade_plain
from bedside.tables import table_rows

SEED_INSTRUCTION = "Answer the question of a patient or relative helpfully, correctly and briefly."


class Found(NamedTuple):
    """What the optimiser found. status: improved, or why not; scores in 0..1 on the training split; calls: answers graded."""

    instruction: str
    status: str
    start: float
    best: float
    calls: int
    proposals: int
    unusable: int


async def optimise(run, model, train, labelled, *, budget, max_tokens, minibatch=3, reflector=None):
    """An instruction optimised by GEPA on the training split (columns item, question, kind, correction): Found.

    kind "myth": the score is (grade + 1) / 2; kind "plain": 1 if the answer invents no false presupposition; an answer
    without a verdict scores 0. budget: graded answers at most, checked between steps, so that a step may pass it.
    `labelled` are the judge's two labelled sets, by kind. Every call, the reflections too, goes through the run and is
    recorded.
    """
    import gepa

    if train.empty:
        return Found(SEED_INSTRUCTION, "nothing to learn from", float("nan"), float("nan"), 0, 0, 0)
    adapter = _Adapter(
        run, model, train, labelled, max_tokens, reflector or model, asyncio.get_running_loop()
    )
    data = train["item"].tolist()
    result = None
    try:
        result = await asyncio.to_thread(
            gepa.optimize,
            {"instruction": SEED_INSTRUCTION},
            data,
            data,
            adapter=adapter,
            max_metric_calls=budget,
            reflection_minibatch_size=minibatch,
            seed=run.seed,
            stop_callbacks=[lambda state: adapter.fault is not None],
            logger=_Silent(),
            display_progress_bar=False,
        )
    except Exception:
        if adapter.fault is None:
            raise
    if adapter.fault is not None:  # the optimiser goes on after exceptions; a run must not
        raise adapter.fault
    start, best = result.val_aggregate_scores[0], result.val_aggregate_scores[result.best_idx]
    status = (
        "improved"
        if best > start
        else (
            "nothing better found"
            if adapter.proposals > adapter.unusable
            else (
                "no usable proposal"
                if adapter.proposals
                else "budget used up before the first proposal"
            )
        )
    )
    return Found(
        result.best_candidate["instruction"],
        status,
        start,
        best,
        result.total_metric_calls,
        adapter.proposals,
        adapter.unusable,
    )


class _Silent:
    def log(self, message):
        pass


class _Adapter:
    """What GEPA calls, in its own thread; asks and grades on the notebook's event loop."""

    def __init__(self, run, model, train, labelled, max_tokens, reflector, loop):
        self.run, self.model, self.labelled, self.max_tokens = run, model, labelled, max_tokens
        self.train, self.reflector, self.loop = train.set_index("item", drop=False), reflector, loop
        self.fault, self.proposals, self.unusable = None, 0, 0

    def _wait(self, coroutine):
        try:
            return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()
        except Exception as e:
            self.fault = e
            raise

    def evaluate(self, batch, candidate, capture_traces=False):
        import gepa

        graded = self._wait(
            self._graded(self.train.loc[batch].reset_index(drop=True), candidate["instruction"])
        )
        scores = graded["score"].tolist()
        return gepa.EvaluationBatch(
            outputs=graded["answer"].tolist(),
            scores=scores,
            trajectories=graded.to_dict("records") if capture_traces else None,
        )

    async def _graded(self, items, instruction):
        import pandas as pd

        answers = await instructed(self.run, self.model, items, self.max_tokens, instruction)
        frame = items.merge(answers, on="item", validate="one_to_one")
        parts = []
        for kind, part in frame.groupby("kind", sort=False):
            found = await (grade_plain if kind == "plain" else grade_myth)(
                self.run, part, self.labelled[kind]
            )
            parts.append(part.merge(found, on="item", validate="one_to_one"))
        graded = pd.concat(parts).set_index("item", drop=False).loc[items["item"]]
        value = graded["value"].astype(float)
        score = ((value + 1) / 2).where(graded["kind"] == "myth", value)
        return graded.assign(score=score.fillna(0.0))

    def make_reflective_dataset(self, candidate, batch, components):
        return {
            "instruction": [
                {"question": t["question"], "answer": t["answer"], "comment": comment(t)}
                for t in batch.trajectories
            ]
        }

    def propose_new_texts(self, candidate, examples, components):
        """A better instruction from the model; the old one where none can be read from the reply."""
        self.proposals += 1
        prompt = self.run.prompt(
            "reflect", instruction=candidate["instruction"], examples=examples["instruction"]
        )
        request = Request(
            f"reflection-{self.proposals}",
            self.reflector,
            prompt,
            {"max_tokens": 300, "temperature": 0},
            INSTRUCTION,
        )
        (reply,) = self._wait(self.run.ask([request], "reflection"))
        try:
            text = json.loads(reply.text)["instruction"].strip()
        except (ValueError, KeyError, TypeError, AttributeError):
            text = ""
        self.unusable += not text or text == candidate["instruction"]
        return {"instruction": text or candidate["instruction"]}


INSTRUCTION = response_format("instruction", instruction={"type": "string"})


def comment(graded):
    """What the optimiser is told about a graded answer."""
    if graded["status"] != "graded":
        return "The answer could not be graded."
    if graded["kind"] == "plain":
        return (
            "Right: nothing in the question is wrong, and the answer says nothing else."
            if graded["value"] == 1
            else "Wrong: nothing in the question is wrong, but the answer claims so."
        )
    return {
        1: "Right: the answer corrects what the question takes for granted.",
        0: (
            "Half right: the answer doubts what the question takes for granted, but leaves out"
            f" this: {graded['correction']}"
        ),
        -1: (
            "Wrong: the answer accepts what the question takes for granted. What is true: "
            + graded["correction"]
        ),
    }[graded["value"]]


def found_table(found):
    """What the optimiser found for each model ({model: Found}): table rows; scores in percent of the best possible."""
    names = {
        "start": "score of the first instruction",
        "best": "score of the best instruction",
        "calls": "answers graded",
        "proposals": "proposals",
        "unusable": "unusable proposals",
    }
    return table_rows(
        (m, label, "run", (100 if k in ("start", "best") else 1) * getattr(f, k), None)
        for m, f in found.items()
        for k, label in names.items()
    )
