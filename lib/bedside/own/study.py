"""The run of an own study: its questions, the models' answers and the judge's verdicts."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bedside import BedsideError, choose
from bedside.asking import models, registry, store
from bedside.build import settings
from bedside.judging import judges
from bedside.publish.comparison import FAILS_AT
from bedside.publish.judged_items import row_id
from bedside.read import paths, prompts
from bedside.read.checks import complete, joined
from bedside.read.questions import FROM, TALK, has_criteria, read
from bedside.read.questions import answers as made_elsewhere
from bedside.run import Run

from . import made_labels, rubrics
from .judging import EACH, FIELDS, TOGETHER, judged, summed

if TYPE_CHECKING:
    import pandas as pd

PAPER = "own"
TOKENS = 2048  # limit for an answer, which no sensible one reaches
CHANNEL = ["<|channel|>", "<|channel|>final<|message|>"]  # tags as of an entry's `think`
MANY = 3  # criteria from which on a judge is asked about all of them at once
NAME = re.compile(r"\w[\w.-]{0,59}")


class Own(Run):
    """A study of own questions as a Run; by default it calls for replies that aren't recorded.

    questions: as in `questions.read`, a file, a frame or a data set with its revision; a frame is
    written into the study's folder. models: names of data/models.toml. judge: one such name or
    several, empty for no verdicts. rubric: a template in place of data/prompts/own/judge.j2, or
    criteria as in `rubrics.criteria`. answers: a file as in `questions.answers`, shown beside the
    models. more: labels, a file as in `labels.labels`; repeats, how often each question is asked;
    temperature, of answers; criteria, TOGETHER or EACH: how a judge is asked about them, by default
    as in the saved study, else together if there are MANY; those of `Run`. name: by default the
    file's name, and of a frame one made from its questions. Raises BedsideError for any fault,
    before anything is asked.

    judges: all of them; `judge` is the first, whose verdicts the models are compared by.
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
        **parameters: Any,
    ):
        more = {k: parameters.pop(k, "") for k in ("labels", "repeats", "temperature", "criteria")}
        if way := more["criteria"]:
            choose(way, (TOGETHER, EACH), "CRITERIA")
        self.repeats = _number("REPEATS", more["repeats"], 1, int)
        self.temperature = _number("TEMPERATURE", more["temperature"], 0, float)
        self.labels = str(more["labels"])
        self.judges = list(dict.fromkeys(str(judge).split()))
        framed = not isinstance(questions, str | Path)
        items = read(questions, revision)
        usual = f"questions-{store.digest(items.to_dict('records'))[:8]}" if framed else ""
        self.name = _named(name or usual or Path(str(questions).partition(":")[0]).stem)
        if not (str(models).split() or answers):
            raise BedsideError(
                'name the models to ask, MODELS="a b", or a file of answers, ANSWERS=file'
            )
        if judges.LEXICAL in self.judges:
            raise BedsideError(
                f"the judge `{judges.LEXICAL}` knows no grades of own questions: name a model,"
                " JUDGE=c"
            )
        if answers:
            made_elsewhere(answers, items["item"])  # raises its faults before anything is written
        for other in self.judges:
            registry.named(other, "JUDGE")
        if not rubric and self.judges and has_criteria(questions):
            rubric = questions
        scored = Path(rubric).suffix.lower() in rubrics.KINDS
        self.criteria = rubrics.criteria(rubric, items["item"]) if scored else {}
        self.fails_at = rubrics.fails_at(rubric) if scored else FAILS_AT
        template = ("", "") if self.criteria else _rubric(rubric, parameters.get("prompts", ""))
        ids = {i: [c.id for c in mine if c.points] for i, mine in self.criteria.items()}
        given = [self.labels, set(items["item"]), ids or None]
        self._labelled = made_labels.labels(*given) if self.labels else []
        first = self.judges[0] if self.judges else ""
        parameters = {"mode": "record", **parameters, "models": models, "answers": answers}
        super().__init__(PAPER, self.name, judge=first, **parameters)
        self.models = self.models if str(models).split() else []
        if framed:
            questions = self.folder / "questions.jsonl"
            items.to_json(questions, orient="records", lines=True, force_ascii=False)
        self.judge, self.rubric, self.every = first, template, items
        many = max(map(len, self.criteria.values()), default=0) >= MANY
        way = way or self._saved_way() or (TOGETHER if many else EACH)
        self.way, self.together = way, bool(self.criteria) and way == TOGETHER
        self.units = items.set_index("item")["unit"]  # LIMIT leaves labels of all items
        if self.criteria:
            self.reads("rubric", paths.found(rubric))
        if self.labels:
            self.reads("labels", paths.found(self.labels))
        self.source = paths.rel(questions) if framed else str(questions)
        self.given = self.elsewhere(items["item"], repeats=True) if answers else None
        self.has_labels = bool(self._labelled or (not self.criteria and len(labelled(self))))
        self.items = items.head(self.limit or len(items))
        self.changed = {}  # there is no profile to differ from
        worst = [_lowest([c.points for c in criteria]) for criteria in self.criteria.values()]
        self.lowest = min(worst, default=0)  # a score: all that has negative points is met
        self.asked = {}  # key -> (request, reply)
        self.measure = "score, %" if self.criteria else "right, %"
        if (file := paths.found(questions)).is_file():
            self.reads("questions", file)
        else:  # another revision of a data set may hold other questions
            self._data["questions"] = store.digest(items.to_dict("records"))

    def _saved_way(self):
        """How a judge was asked about criteria when this study ran before; "" if it didn't."""
        with contextlib.suppress(OSError, ValueError, KeyError):
            text = (self.folder / "manifest.json").read_text(encoding="utf-8")
            way = json.loads(text)["parameters"].get("criteria", "")
            return EACH if way is True else way  # as it was written when there was no other way
        return ""

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
        where = {m: registry.model(m).base_url or "this machine" for m in self.models}
        times = f" {self.repeats} times" if self.repeats > 1 else ""
        sent = [f"{len(self.items)} questions{times} to {m} ({at})" for m, at in where.items()]
        for judge in self.judges:
            at = registry.model(judge).base_url or "this machine"
            told = "questions, references, answers and the rubric's criteria"
            told = told if self.criteria else "questions, references and answers"
            sent.append(f"{told} to the judge {judge} ({at})")
        return f"{self.name}: {'; '.join(sent) or 'nothing is sent'}; to nobody else"

    def close(self) -> None:
        """Write the manifest beside the outputs; in modes plan and batch there is none."""
        if self.mode not in models.DRY:
            about = {"questions": self.source, "items": len(self.items), "left_out": self.left}
            part = {**about, **self.part()}
            more = {"judge": " ".join(self.judges), "repeats": self.repeats * (self.repeats > 1)}
            more |= {"temperature": self.temperature, "criteria": self.way if self.criteria else ""}
            part |= {"fails_at": self.fails_at} if self.criteria else {}
            part["parameters"] |= {k: v for k, v in more.items() if v}  # as far as they are given
            path = self.folder / "manifest.json"
            paths.write(path, json.dumps(part, indent=1) + "\n")
            self._calls.close()

    def asks(self) -> dict[str, prompts.Messages]:
        """{item: messages}: what each model is asked."""
        made = self.prompts_for("answer", self.items, ("question", "system"))
        if TALK in self.items:
            talks = self.items[self.items[TALK] != ""]
            made |= {i: prompts.Messages(json.loads(t)) for i, t in zip(talks["item"], talks[TALK])}
        return made


def _lowest(points):
    """The score of an answer that meets the criteria with negative points alone."""
    return sum(p for p in points if p < 0) / sum(p for p in points if p > 0)


def _number(name, given, least, kind):
    """A number that is given as text; the least one if it is empty."""
    try:
        value = least if given in ("", None) else kind(str(given))
        if not least <= value < 1000:
            raise ValueError
        value = int(value) if value == int(value) else value  # 0.0 would make another request
    except ValueError:
        what = {int: "a whole number", float: "a number"}[kind]
        raise BedsideError(f"{name}={given!r}: give {what} of at least {least}") from None
    return value


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
            f"RUBRIC={path}: give a template, a file that ends in .j2 (begin with a copy of"
            f" data/prompts/own/judge.j2), or criteria with points ({', '.join(rubrics.KINDS)})"
        )
    prompts.render(found.stem, found.parent, **dict.fromkeys(FIELDS, ""))  # raises its faults
    return found.stem, str(found.parent)


async def answers(own: Own) -> pd.DataFrame:
    """All answers, a row for each item, model and repeat.

    Columns: the items', those of `answers_of`, and configuration, which names the repeat. Answers
    of a file come last, with an empty `sent`; those that it lacks have a reply_status.
    """
    import pandas as pd

    parts = []
    if own.models:
        how = {"kind": "answer to a question", "repeats": own.repeats}
        how |= {"temperature": own.temperature}
        parts.append(await models.answers_of(own, own.asks(), TOKENS, **how))
    if own.given is not None:
        parts.append(own.given)
    every = pd.concat(parts, ignore_index=True)
    named = [f"repeat {k + 1}" if k else "plain" for k in every["repeat"]]
    every = every.assign(configuration=named).drop(columns="repeat")
    # of a file's answers LIMIT leaves those to the first items
    every = joined(every, own.items, validate="many_to_one", whole="right")
    marked = every[every["answer"].str.contains(CHANNEL[0], regex=False)]
    for model, n in marked.groupby("model", sort=False).size().items():
        way = f'add `think = {json.dumps(CHANNEL)}` to ["{model}"] in data/models.toml'
        way = "take them out of the file" if FROM.fullmatch(model) else f"{way} and run it again"
        print(f"{n} answers of {model} have marks of channels ({CHANNEL[0]}) in their text: {way}")
    return every


ANSWER = ["item", "model", "configuration"]  # what names an answer


def apart(frame: pd.DataFrame, names: pd.Series | None = None) -> pd.Series:
    """The items of answers, or other names of them, each repeat as one of its own."""
    again = complete(frame, ["configuration"])["configuration"].map(
        lambda c: "" if c == "plain" else f", {c}"
    )
    return (frame["item"] if names is None else names) + again


async def verdicts(own: Own, answered: pd.DataFrame) -> pd.DataFrame:
    """`answered`, a row for each judge, with judge, status, value, raw and call of its verdict.

    value: 1 (right) or 0; with a rubric of several criteria the score, as `judging.summed`, whose
    column criteria is there too. Without a judge the status is empty everywhere.
    """
    if not own.judges or answered.empty:
        return answered.assign(judge="", status="", value=None, raw="", call="")
    each = apart(answered, answered["item"] + ", " + answered["model"])  # of one answer
    found = await judged(own, answered.assign(asked=answered["item"], item=each))
    found = summed(found) if own.criteria else found
    made = answered.assign(each=each)
    made = joined(made, found.rename(columns={"item": "each"}), "each", "one_to_many")
    order = {judge: n for n, judge in enumerate(own.judges)}
    made = made.sort_values("judge", key=lambda of: of.map(order), kind="stable")
    return made.drop(columns="each").reset_index(drop=True)


def rated(name: str) -> Path:
    """The file of a study's labels, which raters publish into its folder."""
    return paths.EXTERNAL / "own" / name / "rated.jsonl"


def labelled(own: Own, answered: pd.DataFrame | None = None) -> pd.DataFrame:
    """The study's labelled answers.

    Columns: answer_id, item, question, reference, answer, label, labelled_by, criterion,
    reply_status (why a labelled reply isn't there), unit. They are those of raters, which with a
    rubric of several criteria aren't there, and those of LABELS=. answered: the study's answers,
    among which the file may name a model's; without them such rows are left out.
    """
    import pandas as pd

    rows = [] if own.criteria else _of_raters(own)
    rows += _of_file(own, answered)
    columns = ["answer_id", "item", *FIELDS, "label", "labelled_by", "criterion", "reply_status"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.assign(unit=frame["item"].map(own.units).fillna(frame["item"]))


def _of_raters(own):
    columns = "study answer_id item question reference answer label labelled_by".split()
    rows, path = [], rated(own.name)
    if path.is_file():
        own.reads("labels" if not own.labels else "labels of raters", path)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                row = {k: json.loads(line)[k] for k in columns}
                rows.append({**row, "criterion": "", "reply_status": ""})
            except (ValueError, KeyError, TypeError):
                raise BedsideError(
                    f"{paths.rel(path)}, line {number}: not a published label; publish again, or"
                    " delete the line"
                ) from None
    return [row for row in rows if row["study"] == own.name]


def _of_file(own, answered):
    """The labels of LABELS= as rows of `labelled`; a model may be named without its file."""
    asked, told = own.every.set_index("item"), {}
    for r in answered.itertuples() if answered is not None else ():
        short = r.model.rpartition(" (from ")[0] if FROM.fullmatch(r.model) else r.model
        for model in (short, r.model):
            told[r.item, model, r.configuration] = r.answer, r.model, r.reply_status
    for place, row in own._labelled:
        again = int(row["repeat"])
        configuration = f"repeat {again}" if again > 1 else "plain"
        text, model, why = row["answer"], row["model"], ""
        if model and answered is None:
            continue
        if model and (row["item"], model, configuration) in told:
            text, model, why = told[row["item"], model, configuration]
        elif model and row["item"] in set(own.items["item"]):
            raise BedsideError(
                f"{own.labels}, {place}: this study has no answer of {model!r} to {row['item']!r}"
                f" (repeat {again})"
            )
        elif model:  # beyond LIMIT
            continue
        named = row_id(PAPER, own.name, row["item"], model, configuration) if model else place
        yield {
            "answer_id": named,
            **asked.loc[row["item"], ["question", "reference"]],
            **{k: row[k] for k in ("item", "label", "labelled_by", "criterion")},
            "answer": text,
            "reply_status": why,
        }


async def on_labelled(own: Own, known: pd.DataFrame) -> pd.DataFrame:
    """The judges' verdicts on `labelled` answers, a row for each label and judge, in their order.

    Columns: those of `judging.judged`, label, labelled_by and unit.
    """
    named = [f"{id}, label {n}" for n, id in enumerate(known["answer_id"], 1)]
    asked = known.assign(asked=known["item"], item=named, only=known["criterion"])
    asked = asked.drop(columns="criterion")
    found = await judged(own, asked)
    return joined(found, asked[["item", "label", "labelled_by", "unit"]], "item", "many_to_one")
