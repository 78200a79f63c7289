"""All judged items of the sample, for tests of rows and of raters."""

import asyncio
import copy
import functools

import pytest

from bedside import paths, rows, sources
from bedside.annotation import raters

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
        content = asyncio.run(rows.collect("sample"))
        made = raters.with_labels(content, folder / "annotations")
    sources.forget()
    return made


def collected(folder):
    """All judged items of the sample, with the user's own files in `folder`; a copy."""
    return copy.deepcopy(_collected(folder))


@pytest.fixture(scope="session")
def nothing(tmp_path_factory):
    """A folder of the user's own files that isn't there."""
    return tmp_path_factory.getbasetemp() / "nothing"
