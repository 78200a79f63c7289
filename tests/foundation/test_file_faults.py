"""Any write of a label may fail, or be the last: nothing that was said to be kept is lost."""

import contextlib

import pytest

from bedside import BedsideError
from bedside.annotation import log
from file_faults import FAULTS, Faults, Killed
from rater_pages import record


@pytest.mark.parametrize("fault", FAULTS)
def test_labels_are_kept_after_any_fault(tmp_path, fault):
    def work(here):
        path = here / "hallucination/Jo.jsonl"
        for n in range(len(log.last(path)), 3):
            log.append(path, [record(f"r{n}")])
        assert len(log.last(path)) == 3, here

    with Faults() as seen:
        work(tmp_path / "whole")
    for n, site in enumerate(seen.sites):
        with contextlib.suppress(BedsideError, Killed), Faults(site, fault):
            work(tmp_path / f"{n}")
        work(tmp_path / f"{n}")
