"""Run: what one notebook reads, asks, concludes and writes, with its provenance.

run = Run("my_paper", "03_evaluation", profile="sample")
items = run.load("my_paper_questions")
replies = await run.ask(requests, "answers")
verdicts = await run.grade(frame, values, "judge", labelled)
run.table("table1_x", rows, "Title")
run.figure("fig1_x", figure, rows, "Title")
run.claim("mp-1", claims.reading("26.9", 26.9 < 30), basis="run")
run.close()
"""

import contextlib
import importlib.metadata
import json
import platform

from . import (
    BedsideError,
    choose,
    claims,
    judges,
    models,
    paths,
    prompts,
    published,
    sources,
    store,
)
from .published import SOURCES
from .settings import DEFAULTS, figures, validated
from .tables import COLUMNS, People, csv_cell, latex, layout, markdown

VERSIONS = ("numpy", "scipy", "pandas", "matplotlib", "scikit-learn")


class Run:
    """One notebook's run. The attributes profile, mode, models, judge, limit and seed hold the checked parameters."""

    def __init__(self, paper, notebook, **parameters):
        self.__dict__.update(validated(**parameters))
        self.paper, self.notebook = paper, notebook
        self.changed = {
            k: v
            for k, v in parameters.items()
            if k in ("models", "judge", "limit", "seed", "prompts") and v not in (DEFAULTS[k], "")
        }
        self.folder = figures() / self.profile / paper
        self.folder.mkdir(parents=True, exist_ok=True)
        self.recordings = store.Recordings(
            paths.RECORDINGS / paper / self.profile, paths.RECORDINGS / paper
        )
        self._data, self._replies, self._outputs, self._claims, self._planned, self._prompts = (
            {},
            {},
            {},
            {},
            [],
            {},
        )
        self._judges, self._spent = {}, 0.0

    def rng(self, *name):
        """A generator of its own for each use, from the run's seed and a name, so that order doesn't matter."""
        import numpy as np

        return np.random.default_rng(
            [self.seed, int(store.digest([self.paper, *map(str, name)])[:8], 16)]
        )

    def load(self, name):
        """A source as a frame; its hash goes into the manifest."""
        frame, self._data[name] = sources.taken(name, self.profile)
        return frame

    def published(self, table):
        """The printed rows of one of this paper's tables."""
        if (name := f"published/{self.paper}") not in self._data:
            self.reads(name, paths.PUBLISHED / f"{self.paper}.csv")
        return published.table(self.paper, table)

    def reads(self, name, path):
        """Note a file besides the sources; its hash goes into the manifest."""
        self._data[name] = sources.sha256(path)

    def prompt(self, name, **fields):
        """Messages of the template `<paper>/<name>`."""
        return prompts.render(self._template(name), self.prompts, **fields)

    def prompts_for(self, name, frame, fields, **fixed):
        """{item: messages} of the template `<paper>/<name>` for each row of a frame; see `prompts.render_all`."""
        return prompts.render_all(self._template(name), frame, fields, self.prompts, **fixed)

    def _template(self, name):
        """Full name of one of this paper's templates; its hash, taken once, goes into the manifest."""
        full = f"{self.paper}/{name}"
        if full not in self._prompts:
            self._prompts[full] = sources.sha256(prompts.source(full, self.prompts))
        return full

    async def ask(self, requests, label=""):
        """`models.ask` with this run's mode, recordings and what is left of its budget."""
        return [
            self._noted(reply)
            for reply in await models.ask(requests, self.recordings, **self._calling(label))
        ]

    @contextlib.asynccontextmanager
    async def asking(self, label=""):
        """`models.asking` with this run's mode, recordings and what is left of its budget: `reply = await one(request)`."""
        async with models.asking(self.recordings, **self._calling(label)) as one:

            async def noted(request):
                return self._noted(await one(request))

            yield noted

    def _calling(self, label):
        return {
            "mode": self.mode,
            "budget_usd": None if self.budget_usd is None else self.budget_usd - self._spent,
            "plan": self._planned,
            "label": f"{self.notebook} {label}".strip(),
        }

    def _noted(self, reply):
        mine = self._replies.setdefault(reply.model, {})
        if self.budget_usd is not None and not reply.recorded and reply.key not in mine:
            self._spent += (
                models.cost(reply.model, reply.prompt_tokens, reply.completion_tokens) or 0.0
            )
        mine[reply.key] = reply
        return reply

    async def grade(self, frame, values, template, labelled=None, judge=None, **more):
        """`judges.grade` by the run's judge (or another), the templates' folder and recordings included."""
        judge = judge or self.judge
        full = "" if judge == judges.LEXICAL else self._template(template)
        return await judges.grade(
            frame,
            judge,
            values,
            self.ask,
            template=full,
            labelled=labelled,
            folder=self.prompts,
            **more,
        )

    def write_card(self, judge, card, labelled_by, task="", of="answers"):
        """Write a judge's trust card (for a `task` other than the paper's main one), which judged outputs show; `of` was labelled."""
        card = {"judge": judge, "labelled_by": labelled_by, "of": of, **card} | (
            {"task": task} if task else {}
        )
        path = self._card_path(judge, task)
        path.write_text(json.dumps(_rounded(card), indent=1) + "\n")
        name = ", ".join(filter(None, (judge, task)))
        self._outputs[path.name] = {
            "file": path.name,
            "kind": "card",
            "title": f"Trust card of {name}",
        }
        self._judges[name] = _rounded(card)
        return card

    def _card_path(self, judge, task):
        return self.folder / f"trust_{judge}{'_' * bool(task)}{task.replace(' ', '_')}.json"

    def card(self, judge=None, task=""):
        """The trust card of the run's judge; an error if it was never measured."""
        judge = judge or self.judge
        path = self._card_path(judge, task)
        if not path.is_file():
            raise BedsideError(
                f"judge {judge!r} has no trust card ({path.name}): run the notebook that measures"
                f" the judges with JUDGE={judge} first"
            )
        return self._judges.setdefault(
            ", ".join(filter(None, (judge, task))), json.loads(path.read_text())
        )

    def table(self, name, frame, title, *, digits=2, caption="", judged=False, kind="table"):
        """Write <name>.csv, .md and .tex from a frame with the columns row, column, source, value, low, high, n, unscored.

        Missing low, high, n, unscored are empty. digits: decimals for people; the CSV has ten significant digits.
        judged: adds the judge's name and kappa to the caption; a tuple names the judge's tasks ("" the main one).
        Returns the table as a notebook shows it.
        """
        frame = frame.reindex(columns=COLUMNS)
        if frame.empty or frame[["row", "column", "source"]].isna().any(axis=None):
            raise BedsideError(f"{name}: a table needs rows, each with row, column and source")
        for s in frame["source"].unique():
            choose(s, SOURCES, "source of a number")
        if (same := frame.duplicated(["row", "column", "source"])).any():
            raise BedsideError(f"{name}: {frame[same].iloc[0, :3].tolist()} stands there twice")
        if judged:
            caption = f"{caption} ({self._judged(judged)})".strip()
        text = [",".join(COLUMNS)] + [
            ",".join(csv_cell(v) for v in row) for row in frame.itertuples(index=False)
        ]
        (self.folder / f"{name}.csv").write_text("\n".join(text) + "\n", encoding="utf-8")
        people = layout(frame.to_dict("records"), digits)
        (self.folder / f"{name}.md").write_text(markdown(people, title, caption), encoding="utf-8")
        (self.folder / f"{name}.tex").write_text(latex(people, title, caption), encoding="utf-8")
        for suffix in ("csv", "md", "tex"):
            self._outputs[f"{name}.{suffix}"] = {
                "file": f"{name}.{suffix}",
                "kind": kind,
                "title": title,
                "caption": caption,
                "digits": digits,
                "judged": bool(judged),
            }
        return People(people)

    def _judged(self, tasks):
        return "; ".join(
            judges.describe(self.card(task=t)) for t in (("",) if tasks is True else tasks)
        )

    def figure(self, name, figure, frame, title, *, digits=2, caption="", judged=False):
        """Write <name>.png and .svg, and with `table` the numbers that the figure shows; return the picture."""
        from . import plots

        self.table(name, frame, title, digits=digits, caption=caption, judged=judged, kind="figure")
        picture = plots.save(
            figure, self.folder / name, self._judged(judged).replace("; ", "\n") if judged else ""
        )
        for suffix in ("png", "svg"):
            self._outputs[f"{name}.{suffix}"] = {
                **self._outputs[f"{name}.csv"],
                "file": f"{name}.{suffix}",
            }
        return picture

    def claim(self, id, readings=None, *, basis="none"):
        """Say what readings ({name: (computed, low, high, holds)}, see `claims`) make of a claim; returns the verdict.

        The claim itself stands in data/claims/<paper>.csv. basis: of SOURCES, whose numbers the readings rest on. Without
        a reading, or with undecided ones only, the claim needs what its row says.
        """
        choose(basis, (*SOURCES, "none"), "basis of a claim")
        known = claims.load(self.paper)
        claim = known[choose(id, known, "claim")]
        if id in self._claims:
            raise BedsideError(f"claim {id!r} is made twice")
        if (name := f"claims/{self.paper}") not in self._data:
            self.reads(name, paths.CLAIMS / f"{self.paper}.csv")
        computed = next((computed for computed, *_ in (readings or {}).values()), "")
        self._claims[id] = {
            "id": id.partition("@")[0],
            "paper": self.paper,
            "section": claim.section,
            "claim": claim.claim,
            "published": claim.published,
            "computed": _plain(computed),
            "basis": basis if readings else "none",
            "verdict": claims.verdict(claim, readings or {}),
        }
        return self._claims[id]["verdict"]

    def claims(self):
        """This notebook's claims as a frame."""
        import pandas as pd

        return pd.DataFrame(self._claims.values()).drop(columns=["paper"])

    def close(self):
        """Hash the outputs and hand everything to the index. In plan mode: write what would be called."""
        folder = self.folder.parent / ".parts"
        folder.mkdir(exist_ok=True)
        if self.mode == "plan":
            plan = [
                {
                    "key": r.key,
                    "model": r.model,
                    "prompt": r.estimate()[0],
                    "completion": r.estimate()[1],
                }
                for r in {r.key: r for r in self._planned}.values()
            ]
            (folder / f"{self.paper}.{self.notebook}.plan.json").write_text(json.dumps(plan))
            return
        for o in self._outputs.values():
            o["sha256"] = sources.sha256(self.folder / o["file"])
        part = {
            "paper": self.paper,
            "notebook": self.notebook,
            "profile": self.profile,
            "changed": self.changed,
            "parameters": {
                "models": self.models,
                "judge": self.judge,
                "limit": self.limit,
                "seed": self.seed,
            },
            "data": self._data,
            "prompts": self._prompts,
            "recordings": {m: _summary(m, got) for m, got in sorted(self._replies.items())},
            "judges": self._judges,
            "versions": {
                "python": platform.python_version(),
                "bedside": importlib.metadata.version("bedside"),
                **{v: importlib.metadata.version(v) for v in VERSIONS},
            },
            "outputs": list(self._outputs.values()),
            "claims": list(self._claims.values()),
        }
        (folder / f"{self.paper}.{self.notebook}.json").write_text(json.dumps(part, indent=1))


def _summary(name, got):
    """What the manifest says of a model's replies, {key: reply}."""
    mine = got.values()
    return {
        "replies": len(mine),
        "keys_sha256": store.digest(sorted(got)),
        "truncated": sum(r.truncated for r in mine),
        "refused": sum(bool(r.refusal) for r in mine),
        "failed": sum(bool(r.error) for r in mine),
        "returned": sorted({r.returned_model for r in mine if r.returned_model}),
        "about": models.model(name).get("about", ""),
        "asked": models.model(name)["model"],
    }


def _plain(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _rounded(value):
    if isinstance(value, float):
        return None if value != value else float(f"{value:.10g}")
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    return [_rounded(v) for v in value] if isinstance(value, (list, tuple)) else value
