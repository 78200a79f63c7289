"""When a limit is over: what an endpoint says of it in headers, members of its error, or words."""

import contextlib
import datetime
import email.utils
import re
import time
from collections.abc import Mapping

LONGEST_S = 600.0  # that an endpoint is waited for
TEN_YEARS_S = 10 * 365 * 86_400.0  # more is no time
# what a number of seconds is at least that counts from 1970, and of milliseconds
EPOCH_S, EPOCH_MS = 1e9, 1e12

PART = (
    r"(\d+(?:\.\d+)?)\s*(ms|milliseconds?|months?|weeks?|w|days?|d|hours?|hrs?|h|minutes?|mins?|m"
    r"|seconds?|secs?|s)(?![a-z])"
)
UNITS_S = {"ms": 0.001, "mil": 0.001, "mo": 2_592_000, "w": 604_800, "d": 86_400, "h": 3600}
UNITS_S |= {"m": 60, "s": 1}  # by how a unit begins; the first that fits
LENGTH = rf"{PART}(?:(?:,|\s|and)*{PART})*"
DATE = (
    r"\d{4}-\d\d-\d\d(?:(?:T| at | )\d\d:\d\d(?::\d\d(?:\.\d+)?)?"
    r"(?:\s?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?)?"
    r"|(?:\w{3}, )?\d{1,2} \w{3} \d{4} \d\d:\d\d:\d\d (?:GMT|UTC|[+-]\d{4})"
)
WORDS = (
    r"\b(?:again|retry(?:ing)?|resets?|renew\w*|refill\w*|wait|available|access)\b[^.\d]{0,40}?"
    rf"(?P<said>{DATE}|{LENGTH})"
)
MEMBER = (
    r'"\w*?(?:retry_?(?:after|delay)|resets?_?(?:at|in|after|date|delay|time(?:stamp)?))'
    r'(?:_?(?:seconds|secs|(?P<ms>ms)))?\\?"\s*:\s*(?:\\?")?(?P<said>[^",}\\]+)'
)


def wait_s(headers: Mapping[str, str], text: str) -> float | None:
    """Seconds after which an endpoint wants to be asked again; None if it doesn't say.

    text: of its error. When a limit of which nothing remains is whole again counts where nothing
    else is said, since a part of it comes back before.
    """
    named = {name.lower(): value for name, value in headers.items()}
    in_ms = seconds(named.get("retry-after-ms"))
    said = [seconds(named.get("retry-after")) if in_ms is None else in_ms / 1000]
    for found in re.finditer(MEMBER, text, re.I):
        said.append(seconds(found["said"]))
        if found["ms"] and said[-1] is not None:
            said[-1] /= 1000
    said += [seconds(found["said"]) for found in re.finditer(WORDS, text, re.I)]
    if told := [s for s in said if s is not None]:
        return max(told)
    whole = {k: seconds(v) for k, v in named.items() if "ratelimit" in k and "reset" in k}
    used_up = [s for k, s in whole.items() if seconds(named.get(_remaining(k))) == 0]
    return max((s for s in used_up if s is not None), default=None)


def _remaining(name):
    """The header that says what is left of a limit, by the one that says when it is reset."""
    return name.replace("reset", "remaining")


def seconds(said: object) -> float | None:
    """Seconds from now: of a number, a length of time such as 6m0s, a date; None for all else."""
    text, now = str(said).strip(), time.time()
    found = None
    if re.fullmatch(LENGTH, text, re.I):
        found = sum(float(n) * _unit_s(unit) for n, unit in re.findall(PART, text, re.I))
    elif re.fullmatch(DATE, text, re.I):
        found = _date(text).timestamp() - now if _date(text) else None
    else:
        with contextlib.suppress(ValueError):
            found = float(text)
            found = found / 1000 - now if found >= EPOCH_MS else found
            found = found - now if found >= EPOCH_S else found
    return max(found, 0.0) if found is not None and found < TEN_YEARS_S else None


def _unit_s(unit):
    return next(s for begins, s in UNITS_S.items() if unit.lower().startswith(begins))


def _date(text):
    """The moment that a date says, in UTC where it names no zone; None for no date."""
    iso = re.sub(r"\s?(Z|UTC|GMT)$", "+00:00", text.replace(" at ", "T"), flags=re.I)
    for read, written in (
        (datetime.datetime.fromisoformat, iso),
        (email.utils.parsedate_to_datetime, text),
    ):
        with contextlib.suppress(ValueError, TypeError):
            moment = read(written)
            return moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)
    return None


def moment(wait: float) -> str:
    """In words: when so many seconds are over, and how long that is."""
    at = datetime.datetime.fromtimestamp(time.time() + wait, datetime.UTC)
    units = (("days", 86_400), ("hours", 3600), ("minutes", 60))
    unit, size = next(u for u in units if wait >= 2 * u[1])
    return f"{at:%Y-%m-%d %H:%M} UTC, in {wait / size:.0f} {unit}"
