"""Judges: who may judge, and their verdicts on frames of answers.

verdicts = await grade(frame, "lexical", Question([-1, 0, 1], "my_paper/judge"), run.ask)
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bedside import BedsideError
from bedside.asking import registry
from bedside.asking.models import ASKED, DRY, NOT_RECORDED, Alone, waited
from bedside.asking.replies import VERDICT_TOKENS, Reply, Request, verdict_format
from bedside.read import checks, paths, prompts, sources

from .parsing import Verdict, verdict

if TYPE_CHECKING:
    import pandas as pd

    from .baselines import Baseline

LEXICAL = "lexical"


def is_named(run: Any, judge: str | None) -> bool:
    """Whether a run names a judge: as its judge, as a model, or as the judge without a model.

    With answers made elsewhere, the profile's models don't count as named unless the user names
    them: whoever brings answers chooses the judge.
    """
    models = () if run.answers and not run.models_named else run.models
    return judge in (None, "", LEXICAL, run.judge, *models)


def run_asking(run: Any, judge: str | None) -> Any:
    """The run through which a judge is asked: itself, or one that only replays if it isn't named.

    A verdict that isn't recorded then has the error NOT_RECORDED. So a run with another model
    neither starts the embedded model nor adds to its recordings.
    """
    return run if is_named(run, judge) else run.replaying()


def recorded(run: Any) -> list[str]:
    """The run's judge, the judge without a model, and those of its models with recordings here."""
    files = {path.stem for path in run.recordings.folder.glob("*.jsonl")}
    there = [name for name in run.models if paths.file_name(name) in files]
    return list(dict.fromkeys([run.judge, LEXICAL, *there]))


async def verdicts_by_judge(
    run: Any,
    grade: "Callable[[Any, str], Awaitable[pd.DataFrame]]",
    mine: "pd.DataFrame | None" = None,
    more: Iterable[str] = (),
) -> "pd.DataFrame":
    """Verdicts of the run's judge and of those `recorded`, with the column `judge`, for `Run.keep`.

    grade: of a run and a judge, the frame of verdicts (item, status, value, raw and others). It
    only replays: nobody is asked, and what was never recorded is left out, as is a model that never
    judged here. mine: what the run's judge has said already. more: judges without a model. A reply
    that nobody judged has a row without a judge.
    """
    import pandas as pd

    aside, parts = run.replaying(aside=True), []
    every = dict.fromkeys([*recorded(run), *more])
    for judge in [run.judge] if run.mode in DRY else every:  # a plan keeps no verdicts
        given = mine if judge == run.judge else None
        made = await grade(aside.judged_by(judge), judge) if given is None else given
        if judge in (run.judge, LEXICAL, *more) or aside.heard(judge):
            parts.append(made.assign(judge=judge))
    made = pd.concat(parts, ignore_index=True)
    lost = made["raw"] == NOT_RECORDED
    names = [c for c in ("item", "model", "regime", "profile") if c in made]  # of a reply
    judged = made.set_index(names).index.isin(made[~lost].set_index(names).index)
    nobody = made[lost & ~judged].drop_duplicates(names)
    nobody = nobody.assign(judge="", status="", value=None, raw="", call="")
    return pd.concat([made[~lost], nobody], ignore_index=True)


def whose_texts_go(profile: str, paper: str, notebook: str, mode: str, judge: str) -> str:
    """A line on whose texts go to a run's judge, from private sources; empty if none can go."""
    if judge == LEXICAL or mode == "replay":
        return ""
    private = [sources.entry(name) for name in sources.private(profile, paper, notebook)]
    at = registry.model(judge).base_url or "this machine"
    return "\n".join(
        f"{paper}/{notebook}: texts of github.com/{e['github']} ({e['about']}) go to the judge"
        f" {judge} ({at}), and to nobody else"
        for e in private
    )


@dataclass(frozen=True)
class Question:
    """What a judge is asked about each answer, and how a model may reply.

    values: of a verdict, stated for `key`. template: the judge's prompt, filled with the `fields`;
    it is looked for in `folder` first. shown: graded examples for the prompt, which then asks for a
    reason before the value. kind: of text, as `registry.most` takes it. temperature, max_tokens: of
    a model's verdicts. A judge without a model goes by the values alone.
    """

    values: Sequence[int | str]
    template: str = ""
    fields: Iterable[str] = ("question", "correction", "answer")
    key: str = "score"
    shown: Sequence[dict] = ()
    kind: str = "verdict"
    max_tokens: int = VERDICT_TOKENS
    temperature: float = 0
    folder: Path | str = ""

    def requests(self, frame: "pd.DataFrame", judge: str, repeat: int = 0) -> list[Request]:
        """A request to a model for each row of a frame (item and the `fields`)."""
        kind = f"{self.kind} with its reason" if self.shown else self.kind
        settings = {"max_tokens": registry.most(judge, self.max_tokens, kind)}
        settings["temperature"] = self.temperature
        form, shown = verdict_format(self.values, self.key, bool(self.shown)), list(self.shown)
        asked = prompts.render_all(self.template, frame, self.fields, self.folder, examples=shown)
        return [Request(i, judge, asked[i], settings, form, repeat) for i in asked]


async def grade(
    frame: "pd.DataFrame",
    judge: str,
    question: Question,
    ask: Callable[[list[Request], str], Awaitable[list[Reply]]],
    *,
    labelled: "pd.DataFrame | None" = None,
    baseline: "type[Baseline] | None" = None,
    repeat: int = 0,
) -> "pd.DataFrame":
    """Verdicts on `frame` (item, reply_status and the question's fields), joined by item.

    They are in its order. ask: sends requests, as a Run does. labelled: examples from which the
    judge without a model, `baseline` (`baselines.Lexical` unless another is given), learns.
    repeat: which repetition this is; the judge without a model needs none. An answer that never
    came (`reply_status` not empty) is an error and isn't judged. Columns: item, status, value, raw,
    and call, the key of the judge's call.
    """
    import pandas as pd

    registry.named(judge, "JUDGE", LEXICAL)
    if (twice := frame["item"][frame["item"].duplicated()]).size:
        raise BedsideError(f"item {twice.iloc[0]!r} would be judged twice. Items must be unique.")
    lost = frame["reply_status"] != ""
    came = frame[~lost]
    if judge == LEXICAL:
        from . import baselines

        kind = baseline or baselines.Lexical
        graded = kind(labelled, question.values).grade(came) if len(came) else []
        verdicts = [Verdict(i, "graded", v) for i, v in zip(came["item"], graded, strict=True)]
    else:
        replies = await ask(question.requests(came, judge, repeat), f"verdicts of {judge}")
        verdicts = [verdict(reply, question.values, question.key) for reply in replies]
    for item, why in frame.loc[lost, ["item", "reply_status"]].itertuples(index=False):
        verdicts.append(Verdict(item, "error", raw=f"no answer to judge: {why}"))
    columns = ["item", "status", "value", "raw", "call"]
    verdicts = pd.DataFrame([vars(v) for v in verdicts], columns=columns)
    return checks.joined(frame[["item"]], verdicts)


def verdicts_on(
    frame: "pd.DataFrame",
    judge: str,
    values: Sequence[int | str] = (0, 1),
    *,
    labelled: "pd.DataFrame | None" = None,
    mode: str = "replay",
    recordings: Path | str = ASKED,
    budget_usd: float | None = None,
    **question: Any,
) -> "pd.DataFrame":
    """A judge's verdicts on answers (item and the question's fields), a row for each item.

    labelled: as of `grade`; mode, recordings: as of `models.answers_to`; question: as of
    `Question`, with the template and the fields of own studies unless others are given. Columns:
    those of `grade`.
    """
    own = {"template": "own/judge", "fields": ("question", "reference", "answer")}
    frame = frame if "reply_status" in frame else frame.assign(reply_status="")
    ask = Alone(mode, recordings, budget_usd).ask
    asked = Question(values, **own | question)
    return waited(grade(frame, judge, asked, ask, labelled=labelled))


def with_raters_labels(
    run: Any,
    labelled: "pd.DataFrame",
    source: str,
    authors: str = "their authors",
    known: "Collection[str] | None" = None,
) -> "pd.DataFrame":
    """Labelled examples, with the labels of the user's own raters (an optional source) if any.

    Adds the columns rated and labelled_by. For trust cards only: judges learn from the examples
    alone. known: the items that the labels need; labels of others, as those of another profile, are
    left out, and how many is printed.
    """
    import pandas as pd

    own = labelled.assign(labelled_by=authors, rated=False)
    if not sources.here(source):
        return own
    rated = run.load(source).assign(rated=True)
    ids = (v for column in rated for v in rated[column])
    run.labelled |= {v for v in ids if isinstance(v, str) and v.startswith(f"{run.paper}/")}
    if known is not None:
        rated = checks.within(rated, "item", known, f"labels of {source}")
    return pd.concat([own, rated], ignore_index=True)


def whose(labelled: "pd.DataFrame") -> str:
    """The names of those who labelled, for cards and captions: the authors and any raters."""
    names = [name for named in labelled["labelled_by"] for name in named.split(", ")]
    *others, last = dict.fromkeys(names)
    return " and ".join(filter(None, (", ".join(others), last)))


async def grade_labelled(
    run: Any,
    example: "pd.DataFrame",
    values: Sequence[int | str],
    template: str,
    judge: str,
    baseline: "type[Baseline] | None" = None,
    **more: Any,
) -> "pd.DataFrame":
    """Verdicts of a judge on labelled examples (by answer_id, else item), in their order.

    A judge without a model never learns from what it grades: `baselines.held_out`. Columns: those
    of `grade`.
    """
    import pandas as pd

    frame = example.assign(item=example.get("answer_id", example["item"]), reply_status="")
    if judge != LEXICAL:
        return await run_asking(run, judge).grade(frame, values, template, judge=judge, **more)
    from . import baselines

    value = baselines.held_out(baseline or baselines.Lexical, example, values)
    return pd.DataFrame(
        {"item": frame["item"], "status": "graded", "value": value, "raw": "", "call": ""}
    )
