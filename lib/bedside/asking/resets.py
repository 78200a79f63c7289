"""When a limit is over: what an endpoint says of it in headers, members of its error, or words."""

import re
import time
from collections.abc import Mapping

UNITS_S = {"ms": 0.001, "mo": 2_592_000, "w": 604_800, "d": 86_400, "h": 3600, "m": 60, "s": 1}
PART = (
    r"(\d+(?:\.\d+)?)\s*(ms|mo|w|d|h|m|s)"
    r"(?:nths?|eeks?|ays?|ours?|rs?|in(?:ute)?s?|ec(?:ond)?s?)?(?![a-z])"
)
LENGTH = rf"{PART}(?:(?:,|\s|and)*{PART})*"
DATE = r"\d{4}-\d\d-\d\d(?:(?:T| at | )[\d:.]+)?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?"
SOON = r"\b(?:again|retry(?:ing)?|resets?|renew\w*|refill\w*|wait|available|access)\b[^.\d]{0,40}?"
MEMBER = r'"[\w-]*?(?:retry|reset)[\w-]*(?<!ms)\\?"\s*:\s*(?:\\?")?(?P<member>[^",}\\]+)'
SAID = rf"{MEMBER}|{SOON}(?P<words>{DATE}|{LENGTH})"


def wait_s(headers: Mapping[str, str], text: str) -> float | None:
    """Seconds after which an endpoint wants to be asked again; None if it doesn't say.

    text: of its error. When a limit of which nothing remains is whole again counts where nothing
    else is said, since a part of it comes back before.
    """
    named = {name.lower(): value for name, value in headers.items()}
    said = [m["member"] or m["words"] for m in re.finditer(SAID, text, re.I)]
    # a number of seconds or a date, or of milliseconds in a header whose name ends in -ms
    said += [v + k[len("retry-after-") :] for k, v in named.items() if k.startswith("retry-after")]
    used_up = (k for k, v in named.items() if "ratelimit" in k and v == "0")
    whole_at = (named.get(k.replace("remaining", "reset"), "") for k in used_up)
    for texts in (said, whole_at):
        if waits := [s for s in map(seconds, texts) if s is not None]:
            return max(waits)
    return None


def seconds(said: str) -> float | None:
    """Seconds from now: of a number, a length of time such as 6m0s, a date; None for all else."""
    import pandas as pd

    if re.fullmatch(LENGTH, said.strip(), re.I):
        parts = re.findall(PART, said, re.I)
        return sum(float(n) * UNITS_S[unit.lower()] for n, unit in parts)
    try:
        found = float(said)
    except ValueError:
        date = pd.to_datetime(said, utc=True, errors="coerce")
        found = (date - pd.Timestamp(0, tz="UTC")).total_seconds()
    found = found / 1000 if found >= 1e12 else found  # ms since 1970
    found = max(found - time.time(), 0.0) if found >= 1e9 else found  # s since 1970
    return found if 0 <= found < 1e9 else None


def moment(wait: float) -> str:
    """In words: when so many seconds are over."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(time.time() + wait))
