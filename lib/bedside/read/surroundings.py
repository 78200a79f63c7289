"""What a process finds around it: environment variables, and what its starter handed it.

from bedside.read.surroundings import here
here.run                       # the name of this process's run
with within(figures=scratch):  # until the end of this block, here and in the kernels started
    ...

Nothing else in the library reads the environment.
"""

import contextlib
import dataclasses
import json
import os
from collections.abc import Iterator
from pathlib import Path

FILE = "BEDSIDE_SETTINGS"  # the variable that names the file of what was handed over


@dataclasses.dataclass
class Surroundings:
    """What the processes of one command share, besides what its user set.

    run: the name of the run, empty for a profile's. figures: the folder of all outputs; batches: of
    request files; ledger: of the budgets; parts: where notebooks put the requests of a wave; each
    is empty for the usual one. make: what stands for the whole command. live: whether another
    process shows the progress. submit: whether what no batch holds is asked directly. budget_total:
    that of all notebooks together. entries: models of the script that began it.
    """

    run: str = ""
    figures: str = ""
    batches: str = ""
    ledger: str = ""
    parts: str = ""
    make: str = ""
    live: bool = False
    submit: bool = False
    budget_total: str = ""
    entries: dict[str, dict] = dataclasses.field(default_factory=dict)


def variable(name: str) -> str:
    """An environment variable, such as a key; empty if it isn't set."""
    return os.environ.get(name, "")


def _handed():
    """What the file has that the starter of this process named; msgspec checks it."""
    if not (file := variable(FILE)):
        return Surroundings(make=variable("BEDSIDE_MAKE"))
    import msgspec

    return msgspec.json.decode(Path(file).read_bytes(), type=Surroundings)


here = _handed()


def read_again() -> None:
    """Let `here` be what is handed over now, in a process that was forked before."""
    vars(here).update(vars(_handed()))


@contextlib.contextmanager
def within(**changes: object) -> Iterator[None]:
    """Other surroundings for this process, and for those that it starts; then as they were."""
    before = {name: getattr(here, name) for name in changes}
    try:
        for name, value in changes.items():
            setattr(here, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(here, name, value)


def environment(file: Path) -> dict[str, str]:
    """The environment of a process to be started: this one's, and in a file what is `here`."""
    file.write_text(json.dumps(dataclasses.asdict(here)), encoding="utf-8")
    return {**os.environ, FILE: str(file)}


def began() -> float:
    """When the `make` that called this process began, in seconds since 1970; 0 without one."""
    at = here.make.rpartition(" at ")[2]
    return float(at) if at.isdecimal() else 0
