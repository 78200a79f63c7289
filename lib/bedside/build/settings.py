"""Settings: the parameters of every notebook, the profiles' defaults for them, and runs.

A run with settings other than its profile's has a folder of its own, figures/runs/<name>, so that
it never overwrites the committed outputs. BEDSIDE_RUN names the run of a process.
"""

import contextlib
import csv
import io
import json
import os
import re
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

from bedside import BedsideError, choose
from bedside.asking import registry, store
from bedside.asking.models import MODES
from bedside.judging import judges
from bedside.read import outside, paths
from bedside.read.paths import PROFILE, profiles
from bedside.read.user_files import there

DEFAULTS = {  # an empty one isn't given; a 0 is
    "mode": "replay",
    "models": "",
    "judge": "",
    "limit": "",
    "seed": "",
    "prompts": "",
    "answers": "",
    "budget_usd": "",
}


def figures() -> Path:
    """The folder of all outputs; `verify` sets another one."""
    return Path(os.environ.get("BEDSIDE_FIGURES") or paths.FIGURES)


@contextlib.contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Set variables of this process and of those it starts; then put back what they were."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def outputs(profile: str, changed: dict | None = None, private: object = ()) -> Path:
    """The folder of a profile's outputs, or of the run of this process or of settings `changed`.

    private: whether they rest on private sources and so may not be committed.
    """
    name = os.environ.get("BEDSIDE_RUN") or (changed and name_of(profile, changed))
    name = name or (private and f"{profile}-local")
    return figures() / "runs" / name if name else figures() / profile


# they change no output; papers: those that an explorer shows
NOT_OF_A_RUN = ("mode", "budget_usd", "budget_total", "papers")


def changed(given: dict) -> dict:
    """The parameters that differ from the profile's; a notebook's own parameters always do."""
    same = {k: v for k, v in given.items() if k not in NOT_OF_A_RUN and v not in ("", None)}
    profile = same.pop("profile", PROFILE)
    own = {k: v for k, v in same.items() if k in DEFAULTS}
    usual, mine = _checked({"profile": profile}), _checked({"profile": profile, **own})
    return {k: v for k, v in same.items() if k not in own or mine[k] != usual[k]}


def name_of(profile: str, changed: dict) -> str:
    """A run's name, made from the settings that it changes."""
    parts = [profile]
    for key, value in changed.items():
        value = Path(value).name if key in ("prompts", "answers") else value
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
    os.environ["BEDSIDE_RUN"] = name or usual
    before = kept()
    if before and (_contradicts(given, before) or not name and before != _of_run(given)):
        raise _other_settings(before, "choose another name with RUN=")
    return {**given, **before}


def _contradicts(given, saved):
    """Whether a setting that is given, a 0 or the profile's own too, isn't that of a saved run."""
    mine = {k: v for k, v in given.items() if k not in NOT_OF_A_RUN and v not in ("", None)}
    own = {k: v for k, v in mine.items() if k not in (*DEFAULTS, "profile")}
    if any(str(v) != saved.get(k) for k, v in own.items()):
        return True
    profile = saved.get("profile", PROFILE)
    mine = {k: v for k, v in mine.items() if k not in own}
    asked = _checked({"profile": profile, **mine})
    there = _checked({"profile": profile, **{k: saved[k] for k in DEFAULTS if k in saved}})
    return any(asked[k] != there[k] for k in mine)


def _other_settings(saved, way):
    told = ", ".join(f"{k} {v}" for k, v in saved.items())
    return BedsideError(
        f"the run {os.environ['BEDSIDE_RUN']!r} has other settings ({told}); {way}, or delete"
        f" {paths.rel(outputs(''))}"
    )


def _of_run(given):
    profile = given.get("profile") or PROFILE
    return {"profile": profile, **{k: str(v) for k, v in changed(given).items()}}


def keep(given: dict) -> None:
    """Save the settings of this process's run, so that RUN= can come back to it."""
    if os.environ.get("BEDSIDE_RUN"):
        outputs("").mkdir(parents=True, exist_ok=True)
        text = json.dumps(_of_run(given), indent=1) + "\n"
        paths.write(outputs("") / "run.json", text, durable=True)


def kept() -> dict:
    """The saved settings of this process's run; empty if there are none."""
    path = outputs("") / "run.json"
    if not os.environ.get("BEDSIDE_RUN") or not path.is_file():
        return {}
    try:
        return outside.fitted(outside.parsed(path.read_bytes()), dict[str, str])
    except (OSError, ValueError) as e:
        raise BedsideError(
            f"{paths.rel(path)}: these are no settings of a run ({e}); delete this file and give"
            " the run's settings again, as its folder's page has them"
        ) from None


STATUS, MARKING = "status.csv", threading.Lock()


def mark(names: Iterable[str], status: str, why: str = "") -> None:
    """Note in status.csv of this process's run how notebooks stand: started, complete or failed."""
    if os.environ.get("BEDSIDE_RUN"):
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


def validated(saved: dict | None = None, /, **parameters: str | int | float) -> dict:
    """The parameters that every notebook takes, validated, with the profile's defaults filled in.

    saved: the settings of a run, by default of this process's; they hold where a parameter is
    empty. Under make, budget_total comes from the environment, since it covers all notebooks
    together. Raises BedsideError naming the fault and the valid values, or the run's other setting.
    """
    saved = kept() if saved is None else saved
    given = {k: v for k, v in parameters.items() if v not in ("", None)}
    if given.get("profile") == PROFILE:  # as every notebook has it
        del given["profile"]
    if saved and _contradicts(given, saved):
        raise _other_settings(saved, "leave these empty here, or open JupyterLab without RUN=")
    return _checked({k: v for k, v in saved.items() if k in ("profile", *DEFAULTS)} | given)


def _checked(given):
    """What is given and the profile's defaults, validated: see `validated`."""
    every = {"profile": PROFILE, **DEFAULTS, "budget_total": ""}
    for name in given:
        choose(name, every, "parameter")
    given = every | given
    choose(given["profile"], profiles(), "PROFILE")
    usual = profiles()[given["profile"]]
    choose(given["mode"], MODES, "MODE")
    judge = registry.named(given["judge"] or usual["judge"], "JUDGE", judges.LEXICAL)
    names = str(given["models"]).split() or usual["models"]
    for name in names:
        registry.named(name, "MODELS")
    if (prompts := given["prompts"]) and not paths.found(prompts).is_dir():
        raise BedsideError(f"PROMPTS={prompts} is not a folder; name one with templates")
    return {
        "profile": given["profile"],
        "mode": given["mode"],
        "models": list(dict.fromkeys(names)),
        "judge": judge,
        **_numbers(given),
        "prompts": str(paths.found(prompts).resolve()) if prompts else "",
        "answers": _file(given["answers"]),
    }


def _numbers(given):
    """The settings that are numbers: limit and seed (0 if empty), and the budgets."""
    total = given["budget_total"]
    try:
        made = {k: int(given[k] or 0) for k in ("limit", "seed")}
        if min(made.values()) < 0:
            raise ValueError
        return made | {
            "budget_usd": _usd(given["budget_usd"]),
            "budget_total": _usd(os.environ.get("BEDSIDE_TOTAL", "") if total == "" else total),
        }
    except ValueError:
        told = (f"{k.upper()}={given[k]!r}" for k in ("limit", "seed", "budget_usd"))
        raise BedsideError(
            f"{', '.join(told)}, BUDGET_TOTAL={total!r}: give numbers of at least 0"
        ) from None


def scope(run: dict) -> str:
    """A digest of the settings; BUDGET_TOTAL counts the calls of all runs that share it."""
    same = ("profile", "models", "judge", "limit", "seed", "prompts")
    return store.digest([run[s] for s in same])


def _file(answers):
    """The file of ANSWERS=; empty for none."""
    if answers and not there(answers):
        raise BedsideError(f"ANSWERS={answers}: there is no file of this name")
    return str(paths.found(answers).resolve()) if answers else ""


def _usd(value):
    """An amount, or None for an empty one; ValueError for one that limits nothing, such as nan."""
    if not str(value).strip():
        return None
    if not 0 <= float(value) < float("inf"):
        raise ValueError
    return float(value)
