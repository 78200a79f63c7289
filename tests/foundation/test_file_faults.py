"""Any write of a label may fail, or be the last: nothing that was said to be kept is lost."""

import contextlib

import pytest

from bedside import BedsideError
from bedside.annotation.log import KINDS, Log
from file_faults import FAULTS, Faults, Killed


@pytest.mark.parametrize("fault", FAULTS)
def test_labels_are_kept_after_any_fault(tmp_path, fault):
    empty = {str: "a", list: [], dict: {}, bool: False, (int, float): 1}
    record = {name: empty[kind] for name, kind in KINDS.items()} | {"refused": ""}

    def work(here):
        log = Log(here, "hallucination", "Jo")
        for n in range(len(log.labels()), 3):
            log.append({**record, "id": f"r{n}"})
        assert len(Log(here, "hallucination", "Jo").labels()) == 3, here

    with Faults() as seen:
        work(tmp_path / "whole")
    for n, site in enumerate(seen.sites):
        with contextlib.suppress(BedsideError, Killed), Faults(site, fault):
            work(tmp_path / f"{n}")
        work(tmp_path / f"{n}")
