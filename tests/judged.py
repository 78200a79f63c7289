"""All judged items of the sample, for tests of rows and of raters.

They are what the sample's notebooks kept when `make` last ran them; `make test` runs what changed.
"""

import copy
import functools
import importlib
import shutil

import pytest

from bedside.annotation import raters
from bedside.publish import judged_items
from bedside.read import paths, sources
from bedside.write import frames

WHERE = sources.where


def elsewhere(patch, folder):
    """The user's own files are looked for in `folder`, whatever lies in data/external here."""

    def where(name):
        inside, path = WHERE(name)
        if path.is_relative_to(paths.EXTERNAL):
            path = folder / path.relative_to(paths.EXTERNAL)
        return inside, path

    patch.setattr(sources, "where", where)
    sources.forget()


@functools.cache
def _collected(folder):
    with pytest.MonkeyPatch.context() as patch:
        elsewhere(patch, folder)
        made = raters.with_labels(judged_items.collect("sample"), folder / "annotations")
    sources.forget()
    return made


def collected(folder):
    """All judged items of the sample, with the user's own files in `folder`; a copy."""
    return copy.deepcopy(_collected(folder))


def kept_in(folder, *papers):
    """Copy what the sample's notebooks kept, and its trust cards, into a folder of figures."""
    for paper in papers or paths.papers():
        for path in (paths.FIGURES / "sample" / paper).glob("*"):
            if path.name.startswith(("trust_", "graded_")):
                place = folder / "sample" / paper
                place.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, place)
        made = paths.CACHE / "graded" / "sample" / paper
        shutil.copytree(made, folder / ".cache" / "graded" / "sample" / paper)


def shown(run, section, frame):
    """A section's rows as explorer and raters get them, from the frame that its notebook keeps."""
    run.keep(section, frame)
    run._calls.close()
    document, place = judged_items.Document(run.profile), run.folder
    room = importlib.import_module(f"bedside.papers.{run.paper}.display")
    (how,) = (d for d in room.DISPLAYS if d.section == section)
    document.add(run.paper, frames.records(place, section)[0], how, frames.called(place))
    return document.content()


def rows_of(content, section, **fields):
    """The rows of a section whose fields are these."""
    mine = [r for r in content["rows"] if r["section"] == section]
    return [r for r in mine if all(r[k] == v for k, v in fields.items())]


@pytest.fixture(scope="session")
def nothing(tmp_path_factory):
    """A folder of the user's own files that isn't there."""
    return tmp_path_factory.getbasetemp() / "nothing"
