"""Prices: what a call costs, by the prices and the rules of an entry of data/models.toml.

    prices.cost(entry, 1200, 60)       # USD of a call that came back
    prices.at_most(entry, 1200, 60)    # before the call, whenever within a day it is answered

An entry has a price for a million tokens in and out. Its `price_rules` say which calls cost
something else: those of prompts `above` so many tokens, `from` a date on, in `utc_hours` of
`utc_weekdays`. The last rule that fits holds for the whole call; one without prices says that the
price of such a call isn't known. Entries are checked before they come here (`fault`).
"""

import datetime
from collections.abc import Iterable

from bedside import BedsideError, choose

NUMBER = (int, float)
PRICES = ("usd_per_million_in", "usd_per_million_out")  # both or none
WRITE = "usd_per_million_cache_write"  # of prompt tokens that are written into a cache
CONDITIONS = ("above", "from", "utc_hours", "utc_weekdays")
OLD = datetime.timedelta(days=183)  # after which a price is told as one to check
DAY_H = 24  # of a call or a batch: the longest that one may take


def cost(
    entry: dict,
    prompt: float | None,
    completion: float | None,
    written: float | None = 0,
    *,
    batch: bool = False,
    when: str | datetime.datetime | None = None,
) -> float | None:
    """Price in USD of a call; None where it isn't known, or where the tokens aren't.

    prompt, completion: tokens, those of caches and thoughts among them. written: prompt tokens that
    went into a cache, None where nobody counted them: then all may have. batch: of a line in a
    batch. when: the call's date as a recording keeps it, without one now; before the entry's
    price_date no price is known.
    """
    if PRICES[0] not in entry or prompt is None or completion is None:
        return 0.0 if entry["provider"] == "local" else None
    try:
        moment = _moment(when)
    except ValueError:  # a recording that somebody has changed
        return None
    tomorrow = (moment + datetime.timedelta(days=1)).date()  # a date has no time zone
    if when and tomorrow.isoformat() < entry.get("price_date", ""):
        return None
    return _priced(entry, prompt, completion, written, batch, moment)


def at_most(entry: dict, prompt: int, completion: int, batch: bool = False) -> float | None:
    """The highest price in USD of a call of at most so many tokens, sent now; None if not known."""
    if PRICES[0] not in entry:
        return cost(entry, prompt, completion)
    rules = entry.get("price_rules", ())
    timed = any(set(rule) & {"from", "utc_hours", "utc_weekdays"} for rule in rules)
    # fewer tokens than these may fall under another rule, and a day brings other hours
    prompts = {prompt, *(r["above"] for r in rules if r.get("above", prompt) < prompt)}
    moments = [_moment() + datetime.timedelta(hours=h) for h in range(DAY_H * timed + 1)]
    each = [_priced(entry, p, completion, None, batch, m) for p in prompts for m in moments]
    return None if None in each else max(each)


def total(usd: Iterable[float | None]) -> float | None:
    """The sum of prices in USD; None if one isn't known."""
    usd = list(usd)
    return None if None in usd else sum(usd)


def _priced(entry, prompt, completion, written, batch, moment):
    rates = entry
    for rule in entry.get("price_rules", ()):
        if _fits(rule, prompt, moment):
            rates = rule
    if PRICES[0] not in rates:
        return None
    usd_in, usd_out = (rates[k] for k in PRICES)
    written = prompt if written is None else min(written, prompt)
    dearer = max(rates.get(WRITE, 0) - usd_in, 0) * written
    share = 1 - entry.get("batch_discount", 0) * batch
    return share * (prompt * usd_in + completion * usd_out + dearer) / 1e6


def _fits(rule, prompt, moment):
    hours, days = rule.get("utc_hours", [[0, 24]]), rule.get("utc_weekdays", [1, 7])
    return (
        prompt > rule.get("above", -1)
        and moment.date().isoformat() >= rule.get("from", "")
        and any(first <= moment.hour < last for first, last in hours)
        and days[0] <= moment.isoweekday() <= days[1]
    )


def _moment(when=None):
    """A time in UTC; now without one."""
    if not when:
        return datetime.datetime.now(datetime.UTC)
    moment = datetime.datetime.fromisoformat(when) if isinstance(when, str) else when
    return moment.astimezone(datetime.UTC) if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)


def priced_when(entry: dict) -> str:
    """In words: as of when an entry's price is, and whether to check it; empty without a price."""
    if PRICES[0] not in entry:
        return ""
    if not (date := entry.get("price_date")):
        return "without a price_date: check it, and write down when"
    old = _moment().date() - datetime.date.fromisoformat(date) > OLD
    return f"as of {date}" + ", more than six months ago: check it" * old


# ---- what is wrong with an entry's prices


def fault(entry: dict) -> str:
    """What is wrong with the prices of an entry; empty if nothing is."""
    if "price_date" in entry and not _is_date(entry["price_date"]):
        return f'price_date = {entry["price_date"]!r} is no date; write it as "2026-11-23"'
    for rule in entry.get("price_rules", ()):
        if wrong := _rule_fault(rule, WRITE in entry):
            return f"a rule of price_rules {wrong}"
    return ""


def _rule_fault(rule, written):
    if not isinstance(rule, dict):
        return "is no table, such as { above = 100_000, usd_per_million_in = 2, ... }"
    try:
        for key in rule:
            choose(key, (*CONDITIONS, *PRICES, WRITE), "key")
    except BedsideError as e:
        return f"has an {e}"
    prices = [*PRICES, *[WRITE] * written]
    if lacking := [k for k in prices if k not in rule] if set(rule) - set(CONDITIONS) else []:
        return f"lacks {', '.join(lacking)}"
    if not set(rule) & set(CONDITIONS):
        return f"doesn't say when it holds: {', '.join(CONDITIONS)}"
    numbers = {k: v for k, v in rule.items() if k in (*PRICES, WRITE, "above")}
    for key, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, NUMBER) or not 0 <= value < 1e12:
            return f"has {key} = {value!r}, which is no amount"
    if "from" in rule and not _is_date(rule["from"]):
        return f'has from = {rule["from"]!r}, which is no date; write it as "2026-11-23"'
    if not _are_ranges(rule.get("utc_hours", []), 0, 24):
        return "has utc_hours that are not like [[1, 4], [6, 10]], of 0 to 24"
    if not _are_ranges([rule.get("utc_weekdays", [1, 7])], 0, 7):
        return "has utc_weekdays that are not like [1, 5], from Monday (1) to Friday"
    return ""


def _is_date(text):
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except (TypeError, ValueError):
        return False


def _are_ranges(pairs, least, most):
    return isinstance(pairs, list) and all(
        isinstance(p, list) and [type(n) for n in p] == [int, int] and least <= p[0] <= p[1] <= most
        for p in pairs
    )
