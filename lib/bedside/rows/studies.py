"""The labelling tasks of all studies, and their judged items in one document."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from bedside import choose, notebooks, paths, settings

from .recorded import Document
from .task import Task


def _room(paper, name):
    return importlib.import_module(f"bedside.papers.{paper}.{name}")


@functools.cache
def tasks() -> dict[str, Task]:
    """All labelling tasks by name: those in the studies' rooms `labels`, and own studies' task."""
    from bedside import study

    found = [t for name in paths.papers() for t in _room(name, "labels").TASKS]
    return {task.name: task for task in [*found, study.TASK]}


async def collect(profile: str = "sample", papers: str = "", **parameters: Any) -> dict:
    """The judged items of a profile, from the studies' rooms `rows`, as `Document.content`.

    papers: names, empty for all. parameters: models, judge, limit, seed, prompts, as every notebook
    takes them, and own ones of some. Replies that were never recorded with these settings are left
    out.
    """
    taken = {p: None for name in notebooks.listed() for p in notebooks.parameters(name)}
    for name in parameters:
        choose(name, taken, "parameter")
    profile = settings.validated(profile=profile)["profile"]  # in a run, the run's
    document = Document(profile, **parameters)
    for name in str(papers).split() or paths.papers():
        await _room(choose(name, paths.papers(), "paper"), "rows").collect(document)
    return document.content(settings.profiles()[profile]["caution"])
