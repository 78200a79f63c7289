"""Settings: the parameters that every notebook takes, and what a profile fills in for them."""

import functools
import os
import tomllib
from pathlib import Path

from . import BedsideError, choose, judges, paths
from .models import MODES

DEFAULTS = {
    "mode": "replay",
    "models": "",
    "judge": "",
    "limit": 0,
    "seed": 0,
    "prompts": "",
    "budget_usd": "",
}


@functools.cache
def profiles() -> dict[str, dict]:
    """data/profiles.toml: for each profile its models, judge and settings."""
    return tomllib.loads((paths.DATA / "profiles.toml").read_text())


def figures() -> Path:
    """The folder that outputs go to; `verify` sets another one."""
    return Path(os.environ.get("BEDSIDE_FIGURES") or paths.FIGURES)


def validated(
    profile: str = "sample",
    mode: str = "replay",
    models: str = "",
    judge: str = "",
    limit: int | str = 0,
    seed: int | str = 0,
    prompts: str = "",
    budget_usd: float | str = "",
    budget_total: float | str = "",
) -> dict:
    """The parameters that every notebook takes, validated, the profile's defaults filled in.

    budget_total comes from the environment where make runs: it is about all notebooks together.
    Raises BedsideError naming what is wrong and what is valid.
    """
    choose(profile, profiles(), "PROFILE")
    settings = profiles()[profile]
    choose(mode, MODES, "MODE")
    judge = choose(judge or settings["judge"], judges.names(), "JUDGE")
    names = str(models).split() or settings["models"]
    for name in names:
        choose(name, judges.names()[1:], "MODELS")
    try:
        limit, seed = int(limit or 0), int(seed or 0)
        budget, total = _usd(budget_usd), _usd(budget_total or os.environ.get("BEDSIDE_TOTAL", ""))
        if limit < 0 or seed < 0:
            raise ValueError
    except ValueError:
        raise BedsideError(
            f"LIMIT={limit!r}, SEED={seed!r}, BUDGET_USD={budget_usd!r},"
            f" BUDGET_TOTAL={budget_total!r}: numbers, not below 0"
        ) from None
    if prompts and not Path(prompts).is_dir():
        raise BedsideError(f"PROMPTS={prompts} is not a folder")
    return {
        "profile": profile,
        "mode": mode,
        "models": list(dict.fromkeys(names)),
        "judge": judge,
        "limit": limit,
        "seed": seed,
        "prompts": str(Path(prompts).resolve()) if prompts else "",
        "budget_usd": budget,
        "budget_total": total,
    }


def _usd(value):
    """An amount, or None for an empty one; ValueError for what limits nothing, such as nan."""
    if not str(value).strip():
        return None
    if not 0 <= float(value) < float("inf"):
        raise ValueError
    return float(value)
