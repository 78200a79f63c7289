"""The run of an own study: its questions, the models' answers and the judge's verdicts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bedside import BedsideError
from bedside.asking import models
from bedside.build import settings
from bedside.judging import judges
from bedside.keep import registry, store
from bedside.read import paths, prompts
from bedside.read.checks import joined
from bedside.read.questions import answers as made_elsewhere
from bedside.read.questions import read
from bedside.run import Run

if TYPE_CHECKING:
    import pandas as pd

PAPER = "own"
VALUES = [0, 1]  # of a verdict: wrong, right
FIELDS = ("question", "reference", "answer")  # the fields of a rubric
TOKENS = 2048  # limit for an answer, which no sensible one reaches
NAME = re.compile(r"\w[\w.-]{0,59}")


class Own(Run):
    """A study of own questions as a Run; by default it calls for replies that aren't recorded.

    questions: as in `questions.read`, a file, a frame or a data set with its revision; a frame is
    written into the study's folder. models: names of data/models.toml. judge: one such name, empty
    for no verdicts. rubric: a template in place of data/prompts/own/judge.j2. answers: a file as in
    `questions.answers`, shown beside the models. name: by default the file's name, and of a frame
    one made from its questions. Raises BedsideError for any fault, before anything is asked.
    """

    SAVED = {}  # it belongs to no run

    def __init__(
        self,
        questions: str | Path | pd.DataFrame,
        name: str = "",
        *,
        models: str = "",
        judge: str = "",
        rubric: str = "",
        answers: str = "",
        revision: str = "",
        mode: str = "record",
        **parameters: Any,
    ):
        framed = not isinstance(questions, str | Path)
        items = read(questions, revision)
        usual = f"questions-{store.digest(items.to_dict('records'))[:8]}" if framed else ""
        self.name = _named(name or usual or Path(str(questions).partition(":")[0]).stem)
        if not (str(models).split() or answers):
            raise BedsideError(
                'name the models to ask, MODELS="a b", or a file of answers, ANSWERS=file'
            )
        if judge == judges.LEXICAL:
            raise BedsideError(
                f"the judge `{judge}` knows no grades of own questions: name a model, JUDGE=c"
            )
        if answers:
            made_elsewhere(answers, items["item"])  # raises its faults before anything is written
        template = _rubric(rubric, parameters.get("prompts", ""))
        parameters |= {"models": models, "judge": judge, "mode": mode, "answers": answers}
        super().__init__(PAPER, self.name, **parameters)
        self.models = self.models if str(models).split() else []
        if framed:
            questions = self.folder / "questions.jsonl"
            items.to_json(questions, orient="records", lines=True, force_ascii=False)
        self.judge, self.rubric = judge, template
        self.source = paths.rel(questions) if framed else str(questions)
        self.given = self.elsewhere(items["item"]) if answers else None
        self.items = items.head(self.limit or len(items))
        self.units = items.set_index("item")["unit"]  # LIMIT leaves labels of all items
        self.changed = {}  # there is no profile to differ from
        self.asked = {}  # key -> (request, reply)
        if (file := paths.found(questions)).is_file():
            self.reads("questions", file)
        else:  # another revision of a data set may hold other questions
            self._data["questions"] = store.digest(items.to_dict("records"))

    def _place(self):
        kept = paths.RECORDINGS / PAPER / self.name
        return settings.figures() / PAPER / self.name, store.Recordings(kept)

    async def ask(self, requests, label=""):
        asked = list(requests)
        replies = await super().ask(asked, label)
        self.asked |= {r.key: (r, reply) for r, reply in zip(asked, replies)}
        return replies

    def texts_sent(self) -> str:
        """A line on which texts go where, to be shown before anything is sent."""
        if self.mode == "replay":
            return f"{self.name}: nothing is sent, replies are those that were recorded"
        where = {m: registry.model(m).get("base_url", "this machine") for m in self.models}
        sent = [f"{len(self.items)} questions to {m} ({at})" for m, at in where.items()]
        if self.judge:
            at = registry.model(self.judge).get("base_url", "this machine")
            sent.append(f"questions, references and answers to the judge {self.judge} ({at})")
        return f"{self.name}: {'; '.join(sent) or 'nothing is sent'}; to nobody else"

    def close(self) -> None:
        """Write the manifest beside the outputs; in modes plan and batch there is none."""
        if self.mode == "batch":
            self._planned.close()
        elif self.mode != "plan":
            about = {"questions": self.source, "items": len(self.items), "left_out": self.left}
            part = {**about, **self.part()}
            path = self.folder / "manifest.json"
            paths.write(path, json.dumps(part, indent=1) + "\n")
            self._calls.close()


def _named(name):
    if not NAME.fullmatch(name):
        raise BedsideError(
            f"NAME={name!r}: give a study a name of up to 60 letters, digits, _ . and - that begins"
            " with a letter or digit"
        )
    return name


def _rubric(path, folder):
    """(template, folder) of a rubric: those of a file, or the project's own."""
    if not path:
        return f"{PAPER}/judge", folder
    found = paths.found(path).resolve()
    if found.suffix != ".j2" or not found.is_file():
        raise BedsideError(
            f"RUBRIC={path}: give a template, a file that ends in .j2; begin with a copy of"
            " data/prompts/own/judge.j2"
        )
    prompts.render(found.stem, found.parent, **dict.fromkeys(FIELDS, ""))  # raises its faults
    return found.stem, str(found.parent)


async def answers(own: Own) -> pd.DataFrame:
    """All answers, a row for each item and model: the items' columns and those of `answers_of`.

    Answers of a file come last, with an empty `sent`; those that it lacks have a reply_status.
    """
    import pandas as pd

    parts = []
    if own.models:
        asked = own.prompts_for("answer", own.items, ("question", "system"))
        parts.append(await models.answers_of(own, asked, TOKENS, kind="answer to a question"))
    if own.given is not None:
        parts.append(own.given)
    every = pd.concat(parts, ignore_index=True)
    # of a file's answers LIMIT leaves those to the first items
    return joined(every, own.items, validate="many_to_one", whole="right")


async def verdicts(own: Own, answered: pd.DataFrame) -> pd.DataFrame:
    """`answered` with status, value (of VALUES) and raw of the judge's verdict on each answer.

    Without a judge the status is empty everywhere.
    """
    if not own.judge or answered.empty:
        return answered.assign(status="", value=None, raw="")
    each = answered["item"] + ", " + answered["model"]  # a verdict is on one model's answer
    found = await graded(own, answered.assign(item=each))
    made = joined(answered.assign(each=each), found.rename(columns={"item": "each"}), "each")
    return made.drop(columns="each")


def rated(name: str) -> Path:
    """The file of a study's labels, which raters publish into its folder."""
    return paths.EXTERNAL / "own" / name / "rated.jsonl"


def labelled(own: Own) -> pd.DataFrame:
    """The study's labelled answers: answer_id, item, question, reference, answer, label, unit."""
    import pandas as pd

    columns = "study answer_id item question reference answer label labelled_by".split()
    rows, path = [], rated(own.name)
    if path.is_file():
        own.reads("labels", path)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                rows.append({k: json.loads(line)[k] for k in columns})
            except (ValueError, KeyError, TypeError):
                raise BedsideError(
                    f"{paths.rel(path)}, line {number}: not a published label; publish again, or"
                    " delete the line"
                ) from None
    frame = pd.DataFrame(rows, columns=columns)
    frame = frame[frame["study"] == own.name].reset_index(drop=True)
    return frame.assign(unit=frame["item"].map(own.units).fillna(frame["item"]))


async def graded(own: Own, frame: pd.DataFrame) -> pd.DataFrame:
    """The judge's verdicts on answers (item, reply_status and FIELDS), as `judges.grade`."""
    template, folder = own.rubric
    own.reads("rubric", prompts.source(template, folder))
    question = judges.Question(VALUES, template, FIELDS, folder=folder)
    return await judges.grade(frame, own.judge, question, own.ask)
