"""Run: what one notebook reads, asks, concludes and writes, with its provenance.

    run = Run("cancer_myth", "03_evaluation", profile="sample")
    items = run.load("cancer_myth_questions_sample")
    replies = await run.ask(requests, "answers")
    run.table("table1_x", frame, "Title")
    run.claim("cm-1", "4.3", "what the paper says, in our words", published=27.2, computed=26.9, basis="run", holds=False)
    run.close()
"""

import contextlib
import functools
import importlib.metadata
import json
import os
import platform
import tomllib
from pathlib import Path

from . import BedsideError, choose, judges, models, paths, prompts, published, sources, store
from .models import MODES, Request, registry
from .published import SOURCES
from .tables import COLUMNS, People, csv_cell, latex, layout, markdown

DEFAULTS = {"mode": "replay", "models": "", "judge": "", "limit": 0, "seed": 0, "prompts": "", "budget_usd": ""}
VERSIONS = ("numpy", "scipy", "pandas", "matplotlib", "scikit-learn")


@functools.cache
def profiles():
    """data/profiles.toml: for each profile its models, judge and settings."""
    return tomllib.loads((paths.DATA / "profiles.toml").read_text())


def figures():
    """The folder that outputs go to; `verify` sets another one."""
    return Path(os.environ.get("BEDSIDE_FIGURES") or paths.FIGURES)


def check(profile="sample", mode="replay", models="", judge="", limit=0, seed=0, prompts="", budget_usd=""):
    """Validate the parameters that every notebook takes; return them with the profile's defaults filled in."""
    choose(profile, profiles(), "PROFILE")
    settings = profiles()[profile]
    choose(mode, MODES, "MODE")
    judge = choose(judge or settings["judge"], judges.names(), "JUDGE")
    names = str(models).split() or settings["models"]
    for name in names:
        choose(name, judges.names()[1:], "MODELS")
    try:
        limit, seed = int(limit or 0), int(seed or 0)
        budget = float(budget_usd) if str(budget_usd).strip() else None
        if limit < 0 or seed < 0 or (budget is not None and budget < 0):
            raise ValueError
    except ValueError:
        raise BedsideError(f"LIMIT={limit!r}, SEED={seed!r}, BUDGET_USD={budget_usd!r}: numbers, not below 0") from None
    if prompts and not Path(prompts).is_dir():
        raise BedsideError(f"PROMPTS={prompts} is not a folder")
    return {"profile": profile, "mode": mode, "models": list(dict.fromkeys(names)), "judge": judge, "limit": limit, "seed": seed,
            "prompts": str(Path(prompts).resolve()) if prompts else "", "budget_usd": budget}


def whose(labelled):
    """Who labelled, for cards and captions: the authors and any raters of `Run.with_rated`."""
    *others, last = dict.fromkeys(name for names in labelled["labelled_by"] for name in names.split(", "))
    return " and ".join(filter(None, (", ".join(others), last)))


class Run:
    """One notebook's run. The attributes profile, mode, models, judge, limit and seed hold the checked parameters."""

    def __init__(self, paper, notebook, **parameters):
        self.__dict__.update(check(**parameters))
        self.paper, self.notebook = paper, notebook
        self.changed = {k: v for k, v in parameters.items() if k in ("models", "judge", "limit", "seed", "prompts")
                        and v not in (DEFAULTS[k], "")}
        self.folder = figures() / self.profile / paper
        self.folder.mkdir(parents=True, exist_ok=True)
        self.recordings = store.Recordings(paths.RECORDINGS / paper / self.profile, paths.RECORDINGS / paper)
        self._data, self._replies, self._outputs, self._claims, self._planned, self._prompts = {}, {}, {}, {}, [], {}
        self._judges, self._spent = {}, 0.0

    def rng(self, *name):
        """A generator of its own for each use, from the run's seed and a name, so that order doesn't matter."""
        import numpy as np

        return np.random.default_rng([self.seed, int(store.digest([self.paper, *map(str, name)])[:8], 16)])

    def load(self, name):
        """A source as a frame; its hash goes into the manifest."""
        if self.profile not in sources.entry(name)["profiles"]:
            raise BedsideError(f"source {name!r} doesn't belong to PROFILE={self.profile}")
        frame = sources.load(name)
        self._data[name] = sources.sha256(sources.where(name)[1])
        return frame

    def with_rated(self, labelled, source, authors="their authors"):
        """Labelled examples and, if they are there, those of the user's own raters (an optional source): columns rated, labelled_by."""
        import pandas as pd

        own = labelled.assign(labelled_by=authors, rated=False)
        if not sources.here(source):
            return own
        return pd.concat([own, self.load(source).assign(rated=True)], ignore_index=True)

    def sources(self):
        """All of this paper's sources in this profile that are there: {name: frame}."""
        return {n: self.load(n) for n in sources.used_by(self.profile, self.paper) if sources.here(n)}

    def limited(self, frame, whole=False):
        """The first LIMIT items of a frame, or the whole of it; an error if one stands twice or lacks something."""
        if (bad := frame[frame["item"].duplicated() | frame.isna().any(axis=1)]).size:
            raise BedsideError(f"item {bad['item'].iloc[0]!r} stands twice, or one of {', '.join(frame.columns)} isn't known")
        return frame.head(len(frame) if whole or not self.limit else self.limit).reset_index(drop=True)

    def drawn(self, frame, size, *name):
        """`size` rows drawn with the run's seed (and a name, for several draws), in their order; all if size is 0 or there are no more."""
        if not 0 < size < len(frame):
            return frame
        return frame.iloc[sorted(self.rng("drawn", *name).choice(len(frame), size, replace=False))].reset_index(drop=True)

    def published(self, table):
        """The printed rows of one of this paper's tables."""
        self.reads(f"published/{self.paper}", paths.PUBLISHED / f"{self.paper}.csv")
        return published.table(self.paper, table)

    def reads(self, name, path):
        """Note a file besides the sources; its hash goes into the manifest."""
        self._data[name] = sources.sha256(path)

    def prompt(self, name, **fields):
        """Messages of the template `<paper>/<name>`."""
        return prompts.render(self._template(name), self.prompts, **fields)

    def _template(self, name):
        """Full name of one of this paper's templates; its hash, taken once, goes into the manifest."""
        full = f"{self.paper}/{name}"
        if full not in self._prompts:
            self._prompts[full] = sources.sha256(prompts.source(full, self.prompts))
        return full

    async def ask(self, requests, label=""):
        """`models.ask` with this run's mode, recordings and what is left of its budget."""
        return [self._noted(reply) for reply in await models.ask(requests, self.recordings, **self._calling(label))]

    @contextlib.asynccontextmanager
    async def asking(self, label=""):
        """`models.asking` with this run's mode, recordings and what is left of its budget: `reply = await one(request)`."""
        async with models.asking(self.recordings, **self._calling(label)) as one:
            async def noted(request):
                return self._noted(await one(request))
            yield noted

    def _calling(self, label):
        return {"mode": self.mode, "budget_usd": None if self.budget_usd is None else self.budget_usd - self._spent,
                "plan": self._planned, "label": f"{self.notebook} {label}".strip()}

    def _noted(self, reply):
        mine = self._replies.setdefault(reply.model, {})
        if self.budget_usd is not None and not reply.recorded and reply.key not in mine:
            self._spent += models.cost(reply.model, reply.prompt_tokens, reply.completion_tokens) or 0.0
        mine[reply.key] = reply
        return reply

    def requests(self, prompts, max_tokens, models=None, temperature=0, repeats=1, response_format=None):
        """Requests to the run's or other models for {item: messages}, each `repeats` times.

        A model's `most_tokens` (data/models.toml) shortens its answers.
        """
        return [Request(item, m, messages, {"max_tokens": min(max_tokens, registry()[m].get("most_tokens", max_tokens)),
                                            "temperature": temperature}, response_format, repeat=k)
                for m in models or self.models for item, messages in prompts.items() for k in range(repeats)]

    async def answers(self, prompts, max_tokens, models=None):
        """Greedy answers of the run's or other models to {item: messages}: item, model, answer, reply_status, truncated.

        reply_status is empty for an answer, else why there is none. A refusal is an answer.
        """
        import pandas as pd

        replies = await self.ask(self.requests(prompts, max_tokens, models), "answers")
        return pd.DataFrame([(r.item, r.model, r.text or r.refusal, r.error, r.truncated) for r in replies],
                            columns=["item", "model", "answer", "reply_status", "truncated"])

    async def grade(self, frame, values, template, labelled=None, judge=None, **more):
        """`judges.grade` by the run's judge (or another), the templates' folder and recordings included."""
        judge = judge or self.judge
        full = "" if judge == judges.LEXICAL else self._template(template)
        return await judges.grade(frame, judge, values, self.ask, template=full, labelled=labelled, folder=self.prompts, **more)

    async def grade_labelled(self, example, values, template, judge, baseline=judges.Lexical, **more):
        """Verdicts of a judge on labelled examples (by answer_id, else item), in their order; the one without a model as `judges.held_out`."""
        import pandas as pd

        frame = example.assign(item=example.get("answer_id", example["item"]), reply_status="")
        if judge == judges.LEXICAL:
            return pd.DataFrame({"item": frame["item"], "status": "graded", "value": judges.held_out(baseline, example, values), "raw": ""})
        return await self.grade(frame, values, template, judge=judge, **more)

    def write_card(self, judge, card, labelled_by, task="", of="answers"):
        """Write a judge's trust card (for a `task` other than the paper's main one), which judged outputs show; `of` was labelled."""
        card = {"judge": judge, "labelled_by": labelled_by, "of": of, **card} | ({"task": task} if task else {})
        path = self._card_path(judge, task)
        path.write_text(json.dumps(_rounded(card), indent=1) + "\n")
        name = ", ".join(filter(None, (judge, task)))
        self._outputs[path.name] = {"file": path.name, "kind": "card", "title": f"Trust card of {name}"}
        self._judges[name] = _rounded(card)
        return card

    def _card_path(self, judge, task):
        return self.folder / f"trust_{judge}{'_' * bool(task)}{task.replace(' ', '_')}.json"

    def card(self, judge=None, task=""):
        """The trust card of the run's judge; an error if it was never measured."""
        judge = judge or self.judge
        path = self._card_path(judge, task)
        if not path.is_file():
            raise BedsideError(f"judge {judge!r} has no trust card ({path.name}): run the notebook that measures the "
                               f"judges with JUDGE={judge} first")
        return self._judges.setdefault(", ".join(filter(None, (judge, task))), json.loads(path.read_text()))

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
        text = [",".join(COLUMNS)] + [",".join(csv_cell(v) for v in row) for row in frame.itertuples(index=False)]
        (self.folder / f"{name}.csv").write_text("\n".join(text) + "\n", encoding="utf-8")
        people = layout(frame.to_dict("records"), digits)
        (self.folder / f"{name}.md").write_text(markdown(people, title, caption), encoding="utf-8")
        (self.folder / f"{name}.tex").write_text(latex(people, title, caption), encoding="utf-8")
        for suffix in ("csv", "md", "tex"):
            self._outputs[f"{name}.{suffix}"] = {"file": f"{name}.{suffix}", "kind": kind, "title": title,
                                                 "caption": caption, "digits": digits, "judged": bool(judged)}
        return People(people)

    def _judged(self, tasks):
        return "; ".join(judges.describe(self.card(task=t)) for t in (("",) if tasks is True else tasks))

    def figure(self, name, figure, frame, title, *, digits=2, caption="", judged=False):
        """Write <name>.png and .svg, and with `table` the numbers that the figure shows; return the picture."""
        from . import plots

        self.table(name, frame, title, digits=digits, caption=caption, judged=judged, kind="figure")
        picture = plots.save(figure, self.folder / name, self._judged(judged).replace("; ", "\n") if judged else "")
        for suffix in ("png", "svg"):
            self._outputs[f"{name}.{suffix}"] = {**self._outputs[f"{name}.csv"], "file": f"{name}.{suffix}"}
        return picture

    def claim(self, id, section, claim, *, published="", computed="", basis="none", holds=None, needs=""):
        """Record whether a claim of the paper holds: True, False, or None with what it `needs`."""
        choose(basis, (*SOURCES, "none"), "basis of a claim")
        if id in self._claims:
            raise BedsideError(f"claim {id!r} is made twice")
        if holds is None and not needs:
            raise BedsideError(f"claim {id!r}: neither decided nor said what it needs")
        verdict = f"needs {needs}" if holds is None else "holds" if holds else "differs"
        self._claims[id] = {"id": id, "paper": self.paper, "section": section, "claim": claim,
                            "published": _plain(published), "computed": _plain(computed), "basis": basis,
                            "verdict": verdict}
        return verdict

    def same(self, id, section, claim, published, computed, *, digits, basis, needs=""):
        """A claim that is a number: it holds if the computed one (None: not to be had) prints the same."""
        if computed is None:
            return self.claim(id, section, claim, published=f"{published:.{digits}f}", needs=needs)
        return self.claim(id, section, claim, published=f"{published:.{digits}f}", computed=f"{computed:.{digits}f}",
                          basis=basis, holds=f"{computed:.{digits}f}" == f"{published:.{digits}f}")

    def claims(self):
        """This notebook's claims as a frame."""
        import pandas as pd

        return pd.DataFrame(self._claims.values()).drop(columns=["paper"])

    def close(self):
        """Hash the outputs and hand everything to the index. In plan mode: write what would be called."""
        folder = self.folder.parent / ".parts"
        folder.mkdir(exist_ok=True)
        if self.mode == "plan":
            plan = [{"key": r.key, "model": r.model, "prompt": r.estimate()[0], "completion": r.estimate()[1]}
                    for r in {r.key: r for r in self._planned}.values()]
            (folder / f"{self.paper}.{self.notebook}.plan.json").write_text(json.dumps(plan))
            return
        for o in self._outputs.values():
            o["sha256"] = sources.sha256(self.folder / o["file"])
        replies = {}
        for name, got in sorted(self._replies.items()):
            mine = got.values()
            replies[name] = {"replies": len(mine), "keys_sha256": store.digest(sorted(got)),
                             "truncated": sum(r.truncated for r in mine), "refused": sum(bool(r.refusal) for r in mine),
                             "failed": sum(bool(r.error) for r in mine),
                             "returned": sorted({r.returned_model for r in mine if r.returned_model}),
                             "about": models.model(name).get("about", ""),
                             "asked": models.model(name)["model"]}
        part = {"paper": self.paper, "notebook": self.notebook, "profile": self.profile, "changed": self.changed,
                "parameters": {"models": self.models, "judge": self.judge, "limit": self.limit, "seed": self.seed},
                "data": self._data, "prompts": self._prompts, "recordings": replies, "judges": self._judges,
                "versions": {"python": platform.python_version(), "bedside": importlib.metadata.version("bedside"),
                             **{v: importlib.metadata.version(v) for v in VERSIONS}},
                "outputs": list(self._outputs.values()), "claims": list(self._claims.values())}
        (folder / f"{self.paper}.{self.notebook}.json").write_text(json.dumps(part, indent=1))


def _plain(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _rounded(value):
    if isinstance(value, float):
        return None if value != value else float(f"{value:.10g}")
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    return [_rounded(v) for v in value] if isinstance(value, (list, tuple)) else value
