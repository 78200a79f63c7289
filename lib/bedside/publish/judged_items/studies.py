"""The judged items of all studies in one document."""

from __future__ import annotations

import importlib
from typing import Any

from bedside import choose
from bedside.build import notebooks, settings
from bedside.judging import judges
from bedside.read import paths
from bedside.run import Run
from bedside.write import frames

from .display import Display
from .document import Document


def _room(paper, name):
    return importlib.import_module(f"bedside.papers.{paper}.{name}")


def here(profile: str = "sample", **parameters: Any) -> list[str]:
    """The studies whose graded replies are here with their texts; parameters as for `collect`."""
    found = []
    for name in paths.papers():
        places = frames.folders(name, profile, **parameters)
        lost = {n.partition("/")[0] for place in places for n in frames.missing(place.parent)}
        if name not in lost and any(map(frames.sections, places)):
            found.append(name)
    return found


def display_of(paper: str, section: str) -> Display:
    """How a section of a study is shown."""
    return next(d for d in _room(paper, "display").DISPLAYS if d.section == section)


def collect(profile: str = "sample", papers: str = "", **parameters: Any) -> dict:
    """The judged items of a profile, or of the run of other parameters, as `Document.content`.

    papers: names, empty for all. parameters: models, judge, limit, seed, prompts, as every notebook
    takes them, and own ones of some. What is shown is what the studies' notebooks kept when they
    last ran with these (`Run.keep`); BedsideError names the one to run.
    """
    taken = {p: None for name in notebooks.listed() for p in notebooks.parameters(name)}
    for name in parameters:
        choose(name, taken, "parameter")
    profile = settings.validated(profile=profile).profile  # in a run, the run's
    document, shared = (
        Document(profile),
        {k: parameters[k] for k in settings.NAMES if k in parameters},
    )
    for name in str(papers).split() or paths.papers():
        room = _room(choose(name, paths.papers(), "paper"), "display")
        places = frames.folders(name, profile, **parameters)
        there = [(d, p) for d in room.DISPLAYS for p in places if d.section in frames.sections(p)]
        if not there:
            raise frames.nothing(places[0], "graded replies")
        run = Run(name, room.DISPLAYS[0].notebook, profile=profile, **shared)
        document.begin(run, getattr(room, "JUDGE", run.judge), judges.recorded(run))
        calls = {k: call for p in places for k, call in frames.called(p).items()}
        for display, place in there:
            document.add(name, frames.records(place, display.section)[0], display, calls)
    return document.content(settings.profiles()[profile]["caution"])
