"""Settings: the parameters of every notebook, the profiles' defaults for them, and runs.

A run with settings other than its profile's has a folder of its own, figures/runs/<name>, so that
it never overwrites the committed outputs. `here.run` names the run of a process.
"""

import csv
import io
import json
import re
import shlex
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import msgspec

from bedside import BedsideError, choose
from bedside.asking import registry, store
from bedside.asking.models import MODES
from bedside.judging import judges
from bedside.read import outside, paths, user_files
from bedside.read.paths import PROFILE, profiles
from bedside.read.questions import answer_files
from bedside.read.surroundings import here

Count = Annotated[int, msgspec.Meta(ge=0)]
Usd = Annotated[float, msgspec.Meta(ge=0, lt=outside.MOST)]


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a user sets for all notebooks; paths are absolute, and an empty one isn't given.

    A budget of None limits nothing, and one of 0 everything.
    """

    profile: str
    mode: str
    models: list[str]
    judge: str
    limit: Count = 0
    seed: Count = 0
    prompts: str = ""
    answers: str = ""
    budget_usd: Usd = None
    budget_total: Usd = None


NAMES = Settings.__struct_fields__
# they change no output; papers: those that an explorer shows
NOT_OF_A_RUN = ("mode", "budget_usd", "budget_total", "papers")


def figures() -> Path:
    """The folder of all outputs; `verify` sets another one."""
    return Path(here.figures or paths.FIGURES)


def outputs(profile: str, changed: dict | None = None, private: object = ()) -> Path:
    """The folder of a profile's outputs, or of the run of this process or of settings `changed`.

    private: whether they rest on private sources and so may not be committed.
    """
    name = here.run or (changed and name_of(profile, changed))
    name = name or (private and f"{profile}-local")
    return figures() / "runs" / name if name else figures() / profile


def _given(parameters, but=()):
    return {k: v for k, v in parameters.items() if k not in but and v not in ("", None)}


def changed(given: dict) -> dict:
    """The parameters that differ from the profile's; a notebook's own parameters always do."""
    same = _given(given, NOT_OF_A_RUN)
    profile = same.pop("profile", PROFILE)
    usual, made = _checked({"profile": profile}), _checked({**same, "profile": profile})
    return {k: v for k, v in same.items() if getattr(made, k, v) != getattr(usual, k, None)}


def name_of(profile: str, changed: dict) -> str:
    """A run's name, made from the settings that it changes."""
    parts = [profile]
    for key, value in changed.items():
        if key in ("prompts", "answers"):
            value = " ".join(Path(name).name for name in user_files.names(value))
        parts.append(f"{'' if key == 'models' else key + '-'}{value}")
    return short(re.sub(r"[^\w.-]+", "_", "-".join(parts)))


def short(name: str) -> str:
    """A folder's name that is made from others, of at most LONGEST characters and a digest."""
    return name if len(name) <= LONGEST else f"{name[:LONGEST]}-{store.digest(name)[:8]}"


LONGEST = 60


def entered(given: dict, name: str = "") -> dict:
    """Enter the run of these settings, for this process and those it starts; return its settings.

    name: of RUN=; an existing run of this name has what isn't given. Raises BedsideError if its
    settings are others.
    """
    different = changed(given)
    if name and not re.fullmatch(r"\w[\w.-]*", name):
        raise BedsideError(f"RUN={name!r}: use letters, digits, _ . and - for a run's name")
    usual = name_of(given.get("profile") or PROFILE, different) if different else ""
    here.run = name or usual
    before = kept()
    if before and (_contradicts(given, before) or not name and before != _of_run(given)):
        raise _other_settings(before, "choose another name with RUN=")
    return {**given, **before}


def _contradicts(given, saved):
    """Whether a setting that is given, a 0 or the profile's own too, isn't that of a saved run."""
    asked = _given(given, NOT_OF_A_RUN)
    own = any(str(v) != saved.get(k) for k, v in asked.items() if k not in NAMES)
    return own or _checked(saved | asked) != _checked(saved)


def _other_settings(saved, way):
    told = ", ".join(f"{k} {v}" for k, v in saved.items())
    return BedsideError(
        f"the run {here.run!r} has other settings ({told}). Either {way}, or delete"
        f" {paths.rel(outputs(''))}."
    )


def _of_run(given):
    profile = given.get("profile") or PROFILE
    return {"profile": profile, **{k: str(v) for k, v in changed(given).items()}}


def keep(given: dict) -> None:
    """Save the settings of this process's run, so that RUN= can come back to it."""
    if here.run:
        outputs("").mkdir(parents=True, exist_ok=True)
        text = json.dumps(_of_run(given), indent=1) + "\n"
        paths.write(outputs("") / "run.json", text, durable=True)


def kept() -> dict:
    """The saved settings of this process's run; empty if there are none."""
    path = outputs("") / "run.json"
    if not here.run or not path.is_file():
        return {}
    try:
        return outside.fitted(outside.parsed(path.read_bytes()), dict[str, str])
    except (OSError, ValueError) as e:
        raise BedsideError(
            f"{paths.rel(path)}: not the settings of a run ({e}). Delete this file and give the"
            " run's settings again; its page lists them."
        ) from None


STATUS, MARKING = "status.csv", threading.Lock()


def mark(names: Iterable[str], status: str, why: str = "") -> None:
    """Note in status.csv of this process's run how notebooks stand: started, complete or failed."""
    if here.run:
        with MARKING:
            every = statuses(outputs("")) | {n: (status, why) for n in names}
            made = io.StringIO(newline="")
            rows = [("notebook", "status", "why"), *((n, *told) for n, told in every.items())]
            csv.writer(made, lineterminator="\n").writerows(rows)
            outputs("").mkdir(parents=True, exist_ok=True)
            paths.write(outputs("") / STATUS, made.getvalue())


def statuses(folder: Path) -> dict[str, tuple[str, str]]:
    """{notebook: (status, why)} of a run's folder; empty for a profile's."""
    path = folder / STATUS
    rows = csv.reader(path.read_text(encoding="utf-8").splitlines()) if path.is_file() else ()
    return {name: (status, why) for name, status, why in list(rows)[1:]}


def validated(saved: dict | None = None, /, **parameters: str | int | float) -> Settings:
    """The settings that these parameters of a notebook are, with the profile's defaults filled in.

    saved: the settings of a run, by default of this process's; they hold where a parameter is
    empty. budget_total is by default that of the whole command. Raises BedsideError naming the
    fault and the valid values, or the run's other setting.
    """
    saved = kept() if saved is None else saved
    given = _given(parameters)
    if given.get("profile") == PROFILE:  # as every notebook has it
        del given["profile"]
    if saved and _contradicts(given, saved):
        raise _other_settings(saved, "leave these empty here, or open JupyterLab without RUN=")
    for name in parameters:
        choose(name, NAMES, "parameter")
    return _checked(saved | given)


def _checked(given):
    """The Settings that are given, with defaults, validated; what else is given doesn't matter."""
    usual = {"mode": "replay", "profile": PROFILE, "budget_total": here.budget_total}
    given = {k: v for k, v in _given(usual | _given(given)).items() if k in NAMES}
    usual = profiles()[choose(given["profile"], profiles(), "PROFILE")]
    choose(given["mode"], MODES, "MODE")
    models = str(given.get("models", "")).split() or usual["models"]
    given["models"] = list(dict.fromkeys(registry.named(name, "MODELS") for name in models))
    given["judge"] = registry.named(given.get("judge") or usual["judge"], "JUDGE", judges.LEXICAL)
    if "prompts" in given:
        if not (folder := paths.found(given["prompts"])).is_dir():
            told = "there is no folder of templates with this name"
            raise BedsideError(f"PROMPTS={given['prompts']}: {told}")
        given["prompts"] = str(folder.resolve())
    if "answers" in given:
        files = answer_files(given["answers"])
        given["answers"] = shlex.join(map(str, files)) if len(files) > 1 else str(files[0])
    try:
        return msgspec.convert(given, Settings, strict=False)
    except msgspec.ValidationError as e:
        name = re.search(r"\$\.(\w+)|$", str(e))[1]
        raise BedsideError(f"{name.upper()}={given[name]!r}: give a number of at least 0") from None


def scope(run: Settings) -> str:
    """A digest of the settings; BUDGET_TOTAL counts the calls of all runs that share it."""
    same = ("profile", "models", "judge", "limit", "seed", "prompts")
    return store.digest([getattr(run, name) for name in same])
