"""Run: what one notebook reads, asks, concludes and writes, with its provenance.

run = Run("my_paper", "03_evaluation", profile="sample")
items = run.load("my_paper_questions")
replies = await run.ask(requests, "answers")
verdicts = await run.grade(frame, values, "judge", labelled)
run.keep("evaluation", verdicts, ["category"])
run.table("table1_x", rows, "Title")
run.figure("fig1_x", figure, rows, "Title")
run.decide({"rate": rate})
run.close()
"""

import contextlib
import copy
import dataclasses
import importlib.metadata
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import msgspec

from . import BedsideError
from .asking import models, registry, store
from .asking.replies import NO_ANSWER, Reply, Request
from .build import settings
from .judging import judges, trust_cards
from .read import (
    checks,
    claims,
    once,
    paths,
    prompts,
    published,
    questions,
    sources,
    specifications,
)
from .write import frames, tables
from .write.layouts import Grid, Layout

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.figure import Figure

    from .judging.baselines import Baseline
    from .write.plots import Picture

TINY = (
    " Embedded models are far too small for medicine: they show that the code works, not how"
    " models that patients use behave."
)
VERSIONS = ("numpy", "scipy", "pandas", "matplotlib", "scikit-learn")


SETTINGS = "profile mode models judge limit seed prompts budget_usd".split()


def start(name: str, given: dict, judged: bool = False, **more: Any) -> "Run":
    """The run of a notebook with its parameters: `start("my_paper/02_section", globals())`."""
    paper, notebook = name.split("/")
    return Run(paper, notebook, judged, **{k: given[k] for k in SETTINGS if k in given}, **more)


class Study:
    """What a study's functions use of a run: its settings and sources, its prompts, and its models.

    The attributes profile, mode, models, judge, limit and seed hold the checked parameters.
    models_named: whether the user named the models. changed: the settings that differ from the
    profile's. answers: the file of answers made elsewhere, empty for none.
    """

    SAVED = None  # settings of a run that hold where a parameter is empty: this process's

    def __init__(self, paper: str, notebook: str, **parameters: Any):
        given = settings.validated(self.SAVED, **parameters)
        self.paper, self.notebook = paper, notebook
        vars(self).update(msgspec.structs.asdict(given))
        self.models_named = bool(parameters.get("models"))
        self.changed = settings.changed({**parameters, **settings.kept(), "profile": self.profile})
        if not (self.changed or self.models_named or self.mode == "fresh"):
            self.models = [*paths.recorded(self.profile, f"{paper}/{notebook}"), *self.models]
        self.folder, self.recordings = self._place()
        self.folder.mkdir(parents=True, exist_ok=True)
        self._data, self._files = {}, {}  # name -> hash; path of what is read besides
        self._prompts, self._judges = {}, {}  # templates; name -> trust card
        self._replies, self._planned = {}, []  # model -> {key: reply}; requests that aren't sent
        # models of ANSWERS=; what in it isn't asked; what scorers there said: `questions.scores`
        self._elsewhere, self.left, self.scored_elsewhere = [], [], []
        self.labelled = set()  # ids of replies that the user's raters labelled: none need be judged
        self._replaying = False

    @property
    def dry(self) -> bool:
        """Whether it finds requests, as plans and batches do, and writes no results."""
        return self.mode in models.DRY

    def _place(self):
        """(folder of the outputs, recordings); git ignores both if they rest on private sources."""
        private = sources.private(self.profile, self.paper, self.notebook)
        kept = (paths.EXTERNAL / "recordings" if private else paths.RECORDINGS) / self.paper
        folder = settings.outputs(self.profile, self.changed, private) / self.paper
        return folder, store.Recordings(kept / self.profile, kept)

    def rng(self, *name: object) -> "np.random.Generator":
        """A numpy Generator for one use, so that the order of uses doesn't matter.

        It is seeded by the run's seed, the paper and the name.
        """
        import numpy as np

        digest = store.digest([self.paper, *map(str, name)])
        return np.random.default_rng([self.seed, int(digest[:8], 16)])

    # ---- what is read

    def load(self, *names: str) -> "pd.DataFrame | list[pd.DataFrame]":
        """A source as a frame, or several as a list; their hashes go into the manifest.

        Raises BedsideError for a source that is private to another notebook.
        """
        for name in names:
            if (reader := sources.entry(name).get("private", self.notebook)) != self.notebook:
                raise BedsideError(f"source {name!r} is for {self.paper}/{reader} alone")
        loaded, digests = sources.taken(names, self.profile)
        self._data |= digests
        return loaded if len(names) > 1 else loaded[0]

    def reads(self, name: str, path: Path) -> None:
        """Note another file that is read; its hash goes into the manifest when the run closes."""
        self._files[name] = path

    def prompt(self, name: str, **fields: Any) -> prompts.Messages:
        """Messages of the template `<paper>/<name>`."""
        return prompts.render(self._template(name), self.prompts, **fields)

    def prompts_for(
        self, name: str, frame: "pd.DataFrame", fields: Iterable[str], **fixed: Any
    ) -> dict[str, prompts.Messages]:
        """{item: messages} of the template, one for each row; see `prompts.render_all`."""
        return prompts.render_all(self._template(name), frame, fields, self.prompts, **fixed)

    def _template(self, name):
        """The full name of a template; its hash goes into the manifest when the run closes."""
        self._prompts[full := f"{self.paper}/{name}"] = None
        return full

    def elsewhere(self, items: Iterable[str], repeats: bool = False) -> "pd.DataFrame":
        """The answers of ANSWERS= to items, as `questions.answers`; `left` lists unasked items.

        Captions name their models. Nothing is sent. What scorers elsewhere said of them is written
        to scores_elsewhere.csv, never mixed with verdicts of this run.
        """
        for n, file in enumerate(questions.answer_files(self.answers), 1):
            self.reads(f"answers {n}" if n > 1 else "answers", file)
        made, self.left = questions.answers(self.answers, items, repeats)
        self._elsewhere = list(made["model"].unique())
        self.scored_elsewhere = questions.scores(self.answers, items)
        if self.scored_elsewhere and not self.dry:
            rows = [r.values() for r in self.scored_elsewhere]
            text = tables.csv_text(self.scored_elsewhere[0], rows)
            paths.write(self.folder / "scores_elsewhere.csv", text)
        return made

    # ---- what is asked and judged

    async def ask(self, requests: Iterable[Request], label: str = "") -> list[Reply]:
        """`models.ask` with this run's mode, its recordings and the rest of its budget."""
        asked, calling = list(requests), self._calling(label)
        spared = None if self._replaying else self.labelled
        replies = await models.ask(asked, self.recordings, spared=spared, **calling)
        lost = sum(reply.error == models.NOT_RECORDED for reply in replies)
        if lost and not self._replaying:
            print(
                f"{lost} questions that your raters labelled have no recorded reply and no verdict."
                " MODE=record asks them."
            )
        return [self._noted(*both) for both in zip(asked, replies)]

    @contextlib.asynccontextmanager
    async def asking(self, label: str = "") -> AsyncIterator[Callable[[Request], Awaitable[Reply]]]:
        """The same for requests that follow from replies, as `models.Asking`."""
        async with models.Asking(self.recordings, **self._calling(label)) as one:

            async def noted(request):
                return self._noted(request, await one(request))

            yield noted

    def _calling(self, label):
        account = None
        if self.mode in ("record", "fresh", "batch"):
            from .asking.budget import Account

            name, scope = f"{self.paper}/{self.notebook}", settings.scope(self)
            account = Account(name, self.budget_usd, self.budget_total, scope)
        return {"mode": self.mode, "account": account, "plan": self._planned, "label": label}

    def step_by_step(self) -> "Run":
        """This run for calls that each depend on the one before, so that no batch can hold them.

        In mode batch a call without a recording raises MissingRecording.
        """
        return self._with(mode="replay") if self.mode == "batch" else self

    def replaying(self, aside: bool = False) -> Self:
        """This run, but a request without a recording has the error NOT_RECORDED for its reply.

        aside: what it replays is shown beside the run's results, so no caption names its models.
        """
        replies = {} if aside else self._replies
        return self._with(_replaying=True, mode="replay", _replies=replies)

    def judged_by(self, judge: str) -> Self:
        """The same run with another judge."""
        return self._with(judge=judge)

    def _with(self, **changes):
        """This run but for some attributes."""
        other = copy.copy(self)
        vars(other).update(changes)
        return other

    def heard(self, model: str) -> bool:
        """Whether a model has replied in this run."""
        return model in self._replies

    def waits(self, requests: Iterable[Request]) -> bool:
        """Whether a reply to any of these requests is to come by batch."""
        waiting = {r.key for r in self._planned} if self.mode == "batch" else ()
        return any(r.key in waiting for r in requests)

    def planned(self) -> list[Request]:
        """The requests without a recording that modes plan and batch found, each once."""
        return list({r.key: r for r in self._planned}.values())

    def _noted(self, request, reply):
        if reply.error != models.NOT_RECORDED:
            self._replies.setdefault(reply.model, {})[reply.key] = reply
            if not self.dry:
                self._calls.add(request, reply)
        return reply

    async def grade(
        self,
        frame: "pd.DataFrame",
        values: Sequence[int | str],
        template: str,
        labelled: "pd.DataFrame | None" = None,
        judge: str | None = "",
        *,
        baseline: "type[Baseline] | None" = None,
        repeat: int = 0,
        **more: Any,
    ) -> "pd.DataFrame":
        """`judges.grade` with the run's judge (or another), its recordings and PROMPTS=.

        more: of `judges.Question`, beside values, template and folder.
        """
        judge = judge or self.judge
        template = "" if judge == judges.LEXICAL else self._template(template)
        question = judges.Question(values, template, folder=self.prompts, **more)
        how = {"labelled": labelled, "baseline": baseline, "repeat": repeat}
        return await judges.grade(frame, judge, question, self.ask, **how)


class Run(Study):
    """One notebook's run: a method for each thing that it reads, concludes or writes.

    judged: whether grades of its judge are shown. A model that nobody has measured is then a
    BedsideError at once, before any call is paid for.
    """

    def __init__(self, paper: str, notebook: str, judged: bool = False, **parameters: Any):
        super().__init__(paper, notebook, **parameters)
        self._outputs, self._claims, self._graded = {}, {}, {}
        if judged and self.mode in ("record", "fresh") and self.judge in registry.entries():
            self._card_file(self.judge, "")
        self._calls = frames.Calls(frames.cache(self.folder) / f"calls_{notebook}.jsonl")

    def published(self, *tables: str) -> "pd.DataFrame":
        """The printed rows of one or more of this paper's tables, as a frame."""
        self.reads(f"published/{self.paper}", paths.PUBLISHED / f"{self.paper}.csv")
        return published.table(self.paper, *tables)

    def specification(self) -> "pd.DataFrame":
        """What the study's robustness notebook asks, as a frame for readers."""
        self.reads(f"specifications/{self.paper}", paths.SPECIFICATIONS / f"{self.paper}.toml")
        return specifications.load(self.paper)

    def once(self, name: str, make: Callable[[], "pd.DataFrame"], *inputs: Any) -> "pd.DataFrame":
        """A frame that takes long: read from data/computed while its inputs are the same.

        Else it is made; a run with the profile's settings keeps it there. See `read.once`.
        """
        path = paths.COMPUTED / self.paper / f"{name}.csv"
        made = once.frame(path, make, inputs, keep=not self.changed)
        if not self.changed:
            self.reads(f"computed/{self.paper}/{name}", path)
        return made

    # ---- judges

    def write_card(
        self, judge: str, card: dict, labelled_by: str, task: str = "", of: str = "answers"
    ) -> dict:
        """Write a judge's trust card, which judged outputs show; return it.

        labelled_by: the raters. of: what they labelled. task: the judge's task, empty for the
        paper's main one.
        """
        card = {"judge": judge, "labelled_by": labelled_by, "of": of, **card}
        card |= {"task": task} if task else {}
        path, name = self._card_path(judge, task), _card_name(judge, task)
        paths.write(path, json.dumps(_rounded(card), indent=1) + "\n")
        about = {"file": path.name, "kind": "card", "title": f"Trust card of {name}"}
        self._outputs[path.name] = about
        self._judges[name] = _rounded(card)
        return card

    def card(self, judge: str = "", task: str = "") -> dict:
        """The trust card of the run's judge or another; BedsideError if it was never measured.

        A plan, which measures nothing, may do without.
        """
        judge = judge or self.judge
        try:
            path = self._card_file(judge, task)
        except BedsideError:
            if self.dry:
                return {"judge": judge, "of": "answers", "n": 0, "unscored": 0}
            raise
        return self._judges.setdefault(_card_name(judge, task), json.loads(path.read_text()))

    def _card_file(self, judge, task):
        path = self._card_path(judge, task)
        if not path.is_file():  # other runs may use the profile's card
            path = settings.figures() / self.profile / self.paper / path.name
        if not path.is_file():
            first = paths.papers().get(self.paper, {}).get("judges_first", "")
            where = f"notebooks/{self.paper}/{first}.ipynb, " if first else "the notebook "
            raise BedsideError(
                f"judge {judge!r} has no validation card ({path.name}). First run {where}that"
                " measures the judges, with the same settings."
                f" `make {self.paper} JUDGE={judge}` begins with it."
            )
        return path

    def _card_path(self, judge, task):
        what = f"_{task}" if task else ""
        return self.folder / f"trust_{paths.file_name(judge)}{what}.json".replace(" ", "_")

    def _judged(self, tasks):
        """A caption's lines on the judge, one for each of its tasks (True: the main one)."""
        tasks = ("",) if tasks is True else tasks or ()
        return [trust_cards.describe(self.card(task=t)) for t in tasks]

    # ---- what is written

    def keep(self, section: str, frame: "pd.DataFrame", own: Iterable[str] = ()) -> None:
        """Write the graded replies of a section, a row for each reply and judge; see `frames`.

        frame: item, model, configuration, the verdicts' columns, `answer` or `reply` (what was
        judged), `sent` (keys of the calls that led to it), and what the section shows. own: of its
        columns, those that the CSV has beside COLUMNS; they hold ids, categories and numbers. Plans
        and request files have none.
        """
        if self.dry:
            return
        if section in self._graded:
            raise BedsideError(f"section {section!r} is kept twice")
        names = {"sent": "key", **({} if "reply" in frame else {"answer": "reply"})}
        frame = frames.checked(frame.rename(columns=names), section)
        checks.complete(frame[frame["status"] == "graded"], ["right"])  # else it counts as unscored
        ended = {r.key: r.finish for got in self._replies.values() for r in got.values()}
        frame["finish"] = [ended.get(k.rpartition(" ")[2], "") for k in frame["key"]]
        file = frames.write(self.folder, section, frame, own, f"{self.paper}/{self.notebook}")
        self._graded[section] = {"file": file, "rows": len(frame)}

    def table(
        self,
        name: str,
        frame: "pd.DataFrame",
        title: str,
        *,
        caption: str = "",
        judged: bool | tuple[str, ...] = False,
        layout: Layout | None = None,
        kind: str = "table",
    ) -> Grid | None:
        """Write <name>.csv and .md from a frame with the columns `tables.COLUMNS`.

        Missing numbers are empty; the CSV has ten significant digits. judged: adds the judge's name
        and kappa to the caption; a tuple names the judge's tasks ("" the main one). layout: what
        readers see. Returns the table as a notebook shows it; dry runs have none.
        """
        if self.dry:
            return None
        if judged:
            caption = f"{caption} ({'; '.join(self._judged(judged))})".strip()
        caption = " ".join(
            filter(None, [caption.strip(), tables.few_note(frame), self._whose(frame)])
        )
        layout = layout or Layout()
        people = tables.write(self.folder / name, frame, title, caption, layout)
        about = {"kind": kind, "title": title, "caption": caption}
        about["layout"] = dataclasses.asdict(layout)
        for file in (f"{name}.csv", f"{name}.md"):
            self._outputs[file] = {"file": file, **about, "judged": bool(judged)}
        return people

    def _whose(self, frame):
        """A caption's note on the models that the rows of this run rest on."""
        if not (frame["source"] == "run").any():
            return ""
        brought = ", ".join(self._elsewhere)
        brought = f" Answers made elsewhere, judged here: {brought}." if brought else ""
        if not self._replies:
            return f"No model was asked for this run's rows.{brought}"
        small = TINY if any(map(registry.is_embedded, self._replies)) else ""
        return f"Models of this run: {', '.join(sorted(self._replies))}.{small}{brought}"

    def figure(
        self,
        name: str,
        figure: "Figure",
        frame: "pd.DataFrame",
        title: str,
        *,
        headline: str = "",
        narrow: "Figure | None" = None,
        **about: Any,
    ) -> "Picture":
        """Write <name>.png and .svg, and the numbers that they show, with `table` and `about`.

        narrow: the same drawn for narrow screens, written as <name>.narrow.svg. The picture's title
        is its `headline`, with `title` below it; it is `title` alone without one, beside marks of
        this run, and in a run whose settings aren't the profile's. The manifest has the headline
        beside the CSV's title. Returns the picture; plans and request files draw none.
        """
        from .write import plots

        self.table(name, frame, title, kind="figure", **about)
        if self.dry:
            return plots.Picture(b"")
        mine = self._draws() and (frame["source"] == "run").any()
        headline = "" if self.changed or mine else headline
        judge = self._judged(about.get("judged")) if mine else []
        below = " ".join(filter(None, [headline and f"{title}.", *judge]))
        path = self.folder / name
        picture = plots.save(figure, path, headline or title, below, narrow=narrow)
        entry = self._outputs[f"{name}.csv"]
        entry["message"] = headline
        for form in ("png", "svg", *["narrow.svg"] * bool(narrow)):
            self._outputs[f"{name}.{form}"] = {**entry, "file": f"{name}.{form}"}
        return picture

    def rows_to_draw(self, frame: "pd.DataFrame") -> "pd.DataFrame":
        """The rows that a figure draws: all, but not this run's if they say nothing.

        They say nothing where the embedded model alone answered questions of released data; the
        figure's table has them.
        """
        return frame if self._draws() else frame[frame["source"] != "run"].reset_index(drop=True)

    def _draws(self):
        tiny = all(registry.is_embedded(m) for m in self.models)
        return bool(self._elsewhere) or self.profile != "public" or not tiny

    def decide(self, names: dict, also: Iterable[str] = ()) -> "pd.DataFrame":
        """Decide this notebook's claims by their tests in data/claims; the claims as a frame.

        names: the quantities that the tests use, as `claims.decided` takes them. also: claims of
        other notebooks that this one settles. Plans and request files have no claims on printed
        numbers.
        """
        if not self.dry:
            self.reads(f"claims/{self.paper}", paths.CLAIMS / f"{self.paper}.toml")
            known = claims.load(self.paper)
            for id, outcomes in claims.decided(self.paper, names, self.notebook, also).items():
                self._claims[id] = self._decided(known[id], outcomes)
        from .write import prose

        return prose.Claims(self._claims.values(), columns=list(claims.SHOWN))

    def _decided(self, claim, outcomes):
        """A claim as the manifest has it. Without an outcome it needs the data that it names."""
        verdict, rows = claims.judged(self.paper, claim.id, outcomes)
        rows = [{**_rounded(row), "computed": _plain(row["computed"])} for row in rows]
        computed = next((row["computed"] for row in rows if row["reading"] in outcomes), "")
        return {
            **{k: getattr(claim, k) for k in claims.KEPT},
            "paper": self.paper,
            "computed": computed,
            "basis": claim.basis if outcomes else "none",
            "verdict": verdict,
            "saved_by": claims.saved_by(claim, rows),
            "readings": rows,
        }

    # ---- provenance

    def close(self) -> None:
        """Hash the outputs and write this notebook's part of the manifest; dry runs have none."""
        self._calls.close()
        if self.dry:
            return
        folder = self.folder.parent / ".parts"
        folder.mkdir(exist_ok=True)
        part = json.dumps(self.part(), indent=1)
        paths.write(folder / f"{self.paper}.{self.notebook}.json", part)

    def part(self) -> dict:
        """What this run read, asked and wrote, as the manifest has it."""
        for o in (*self._outputs.values(), *self._graded.values()):
            o["sha256"] = sources.sha256(self.folder / o["file"])
        parameters = ("models", "judge", "limit", "seed")
        versions = {v: importlib.metadata.version(v) for v in ("bedside", *VERSIONS)}
        return {
            "paper": self.paper,
            "notebook": self.notebook,
            "profile": self.profile,
            "changed": self.changed,
            "parameters": {p: getattr(self, p) for p in parameters},
            "data": {**self._data, **{n: sources.sha256(p) for n, p in self._files.items()}},
            "prompts": {name: prompts.sha256(name, self.prompts) for name in self._prompts},
            "recordings": {m: _summary(m, got) for m, got in sorted(self._replies.items())},
            "judges": dict(sorted(self._judges.items())),
            "versions": versions,
            "outputs": list(self._outputs.values()),
            "graded": list(self._graded.values()),
            "claims": list(self._claims.values()),
            **({"elsewhere": self._elsewhere} if self._elsewhere else {}),
        }


def _card_name(judge, task):
    return ", ".join(filter(None, (judge, task)))


def _summary(name, got):
    """The manifest's summary of a model's replies, {key: reply}."""
    mine, entry = got.values(), registry.model(name)
    none = Counter(r.no_answer for r in mine if r.no_answer)
    dates = sorted({r.date[:10] for r in mine if r.date})
    return {
        "replies": len(mine),
        "keys_sha256": store.digest(sorted(got)),
        "truncated": sum(r.truncated for r in mine),
        "refused": none.pop(NO_ANSWER["refusal"], 0),
        "failed": sum(bool(r.error) for r in mine),
        "no_answer": dict(sorted(none.items())),
        "returned": sorted({r.returned_model for r in mine if r.returned_model}),
        "fingerprints": sorted({r.fingerprint for r in mine if r.fingerprint}),
        "served": sorted({r.router for r in mine if r.router}),
        "dates": " to ".join(dict.fromkeys([dates[0], dates[-1]])) if dates else "not recorded",
        "about": entry.about,
        "asked": entry.model,
    }


def _plain(value):
    return f"{value:z.4g}" if isinstance(value, float) else str(value)


def _rounded(value):
    """A card's numbers with ten significant digits, as JSON can hold them."""
    if isinstance(value, float):
        return None if value != value else float(f"{value:.10g}")
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    return [_rounded(v) for v in value] if isinstance(value, list | tuple) else value
