"""What a process finds around it: environment variables, and what its starter handed it.

from bedside.read.surroundings import here
here.run                       # the name of this process's run
with within(figures=scratch):  # here and in the kernels started, until the end of this block
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
    """What the processes of one command share, besides what its user set for notebooks.

    run: the name of the run, empty for a profile's. figures: the folder of all outputs, ledger: of
    the budgets; empty for the usual one. make: what stands for the whole command. terminal: the
    file of the one on which it shows its progress. budget_total: of all notebooks together.
    """

    run: str = ""
    figures: str = ""
    ledger: str = ""
    make: str = ""
    terminal: str = ""
    budget_total: str = ""


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


def environment(**more: str) -> dict[str, str]:
    """The environment of a process to be started: this one's, with some variables more."""
    return {**os.environ, **more}


def handing_over(file: Path) -> dict[str, str]:
    """The environment of a process that finds in this file, written here, what is `here`."""
    file.write_text(json.dumps(dataclasses.asdict(here), default=str), encoding="utf-8")
    return environment(**{FILE: str(file)})


def enter(variables: dict[str, str]) -> None:
    """Let this process, which was forked, be one that was started in this environment."""
    os.environ.clear()
    os.environ.update(variables)
    vars(here).update(vars(_handed()))


def began() -> float:
    """When the `make` that called this process began, in seconds since 1970; 0 without one."""
    at = here.make.rpartition(" at ")[2]
    return float(at) if at.isdecimal() else 0
