"""Radiation: the quantities and functions that the tests in data/claims/radiation.toml may use."""

import functools
from collections.abc import Mapping
from typing import Any

import pandas as pd

from bedside import stats
from bedside.read import published
from bedside.run import Run
from bedside.stats.rounded import Rounded, Verdict, size

from . import agreement, checks
from .data import profiles, vocabulary
from .data import reference as of_sites
from .printed import DIGITS, STRONG, TABLES, lengths, printed_tables, reference_sizes, scores


def names(run: Run) -> dict[str, Any]:
    """What the tests of claims may use; None is what this run's profile doesn't have."""
    patients, reference = profiles(run, whole=True), of_sites(run)
    printed, released = run.published(*(f"Table {n}" for n in TABLES)), run.profile == "public"
    return {
        **of_tables(printed_tables(run), reference_sizes(run, patients, reference)),
        "strong": STRONG,
        "printed": printed,
        "off_middle": _off_middle(printed),
        "terms": vocabulary(run),
        "n_terms": len(vocabulary(run)),
        "fields_named": len(run.published("fields of 3.1")),
        "text": functools.cache(
            lambda section, row, column="count": published.value(
                run.paper, f"text {section}", row, column
            )
        ),
        **FUNCTIONS,
        **(_of_released(run, patients, reference) if released else dict.fromkeys(RELEASED)),
    }


def of_tables(T: Mapping[int, Rounded], sizes: pd.Series) -> dict[str, Any]:
    """What follows from Tables 1 to 7. sizes: of the patients' references."""
    longest = lengths(T, sizes.min())
    return {
        **{f"T{n}": t for n, t in T.items()},
        "all_scores": _together(scores(T).values()),
        "chosen": _together((T[3], T[4])),
        "both_levels": T[6].map(lambda a, b: pd.concat([a, b], axis=1), T[7]),
        "entries": lengths(T, sizes.mean()),
        "longest": longest,
        "entries_a_list": int(longest["free-form"].low.min()),
    }


def _together(parts):
    first, *more = parts
    return first.map(lambda *frames: pd.concat(frames), *more)


def _off_middle(found):
    """How far printed means are from the middle of their intervals, in half widths."""
    value, low, high = (Rounded.printed(found[c], DIGITS) for c in ("value", "low", "high"))
    return size(2 * value - low - high) / (found["high"] - found["low"])


def _of_released(run, patients, reference):
    """What only the released files know."""
    patients = patients.set_index("item", drop=False)
    changed = checks.pairs(patients)[0][list(checks.COUNTS)].sum()
    entries, base, site = reference.groupby("site").size(), patients["base"], patients["site"]
    hits, terms = site.map(entries), vocabulary(run)
    misfits = functools.cache(lambda: agreement.misfits(run, reference, site))
    types = run.load("radiation_reference").columns[2:].to_series()  # and locations
    whole = not run.limit  # all patients are read
    return {
        "patients": len(patients),
        "specified": patients["specified"].nunique(),
        "sites": len(entries),
        "fields": base.map(lambda text: len(checks.fields(text))),
        "mentions": changed["mentions"],
        "followed": changed["specified"],
        "elsewhere": changed["elsewhere"],
        "no_site": ~base.str.contains(checks.TARGETED, case=False),
        "given": ~base.str.contains(r"radiation[^.]*\bplanned", case=False),
        "wall_kept": base.str.contains("lumpectomy", case=False)
        & site.str.startswith("chest wall"),
        "breast_gone": base.str.contains("mastectomy", case=False) & site.str.startswith("breast"),
        "terms_at_site": entries,
        "copy_precision": (hits / len(terms)).mean() if whole else None,
        "copy_f1": (2 * hits / (len(terms) + hits)).mean() if whole else None,
        "late_entries": _late(reference),
        "effects": set(reference["effect"]),
        "levels": [reference["frequency"].nunique(), reference["onset"].nunique()],
        "one_frequency": reference.groupby(["site", "effect"])["frequency"].nunique() == 1,
        "dose_named": types.str.contains(r"dose|fraction|\bgy\b", case=False),
        "accelerated": types.str.contains("accelerated", case=False),
        "fit": lambda way: agreement.fit(misfits(), way),
    }


RELEASED = (
    "patients specified sites fields mentions followed elsewhere no_site given wall_kept"
    " breast_gone terms_at_site copy_precision copy_f1 late_entries effects levels"
    " one_frequency dose_named accelerated fit"
).split()


def _late(entries):
    """The share of long-term ones among uncommon and extremely rare effects."""
    late = (entries["onset"] == "long-term").groupby(entries["frequency"]).mean()
    return late[["uncommon", "extremely rare"]]


# ---- functions that tests call


def same(first: Any, second: Any) -> Verdict:
    """Do two lists hold the same?"""
    return Verdict(
        set(first) == set(second), ", ".join(first) if len(first) < 5 else f"{len(first)}"
    )


def only_support(verdict: Verdict) -> Verdict:
    """A verdict whose no proves nothing."""
    return Verdict(verdict.holds or None, verdict.told)


def whole_number(percent: float, n: float) -> Verdict:
    """Can a whole number of n be a share that is printed without decimals (GRIM)?"""
    k = int(percent * n / 100)
    near = ", ".join(f"{i} is {100 * i / n:.1f}%" for i in (k, k + 1))
    return Verdict(bool(stats.grim(percent, int(n), 0)), f"of {n:g}: {near}")


def any_number_from(percent: float) -> int:
    """The least n from which on each n has a whole number for a share without decimals."""
    return 1 + max((n for n in range(1, 101) if not stats.grim(percent, n, 0)), default=0)


def harmonic(p: Rounded, r: Rounded) -> Rounded:
    """The harmonic mean."""
    return p.map(stats.harmonic, r)


FUNCTIONS = {
    f.__name__: f
    for f in (
        same,
        only_support,
        whole_number,
        any_number_from,
        harmonic,
    )
}
