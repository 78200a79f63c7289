"""Radiation: the quantities and functions that the tests in data/claims/radiation.toml may use."""

import functools
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from bedside import stats
from bedside.read import published
from bedside.run import Run
from bedside.stats.rounded import Comparison, Rounded, Verdict, size

from . import agreement, checks
from .data import profiles, vocabulary
from .data import reference as of_sites
from .printed import DIGITS, STRONG, TABLES, lengths, printed_tables, reference_sizes, scores, wide

NAMED = [  # the delayed effects of section 4.7.1, in the words of the reference
    "breast or chest wall fibrosis",
    "telangiectasia",
    "lymphedema",
    "cardiovascular disease",
    "cancer caused by radiation",
]


def names(run: Run) -> dict[str, Any]:
    """What the tests of claims may use; None is what this run's profile doesn't have."""
    patients, reference = profiles(run, whole=True), of_sites(run)
    printed, released = run.published(*(f"Table {n}" for n in TABLES)), run.profile == "public"
    return {
        **of_tables(printed_tables(run), reference_sizes(run, patients, reference)),
        **{f"E{n}": _ends(run, n) for n in TABLES},
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
        "short_common": _short_common(T[6], T[7]),
        "missed": _missed(T[7]),
    }


def _ends(run, n):
    """{column: the printed ends of its intervals, by model}."""
    low, high = (wide(run, f"Table {n}", end) for end in ("low", "high"))
    return {c: pd.DataFrame({"low": low[c], "high": high[c]}) for c in low}


def _together(parts):
    first, *more = parts
    return first.map(lambda *frames: pd.concat(frames), *more)


def _off_middle(found):
    """How far printed means are from the middle of their intervals, in half widths."""
    value, low, high = (Rounded.printed(found[c], DIGITS) for c in ("value", "low", "high"))
    return size(2 * value - low - high) / (found["high"] - found["low"])


def _short_common(six, seven):
    """Recall of effects that are common and short-term, if each level counts once.

    Short-term recall is then a mean of three cells, recall of common effects one of two; this cell
    is one in both.
    """
    short, common = six["Short-term"], seven["Common"]
    least = np.maximum(3 * short.low - 2, 2 * common.low - 1).clip(lower=0)
    most = np.minimum(3 * short.high, 2 * common.high).clip(upper=1)
    return Rounded(least, (least + most) / 2, most)


def _missed(seven):
    """The share of lists that miss one of the two extremely rare effects of each site.

    The least if all others miss none, the most if only this one is missed.
    """
    last = seven["Extremely Rare"]
    return Rounded(1 - 2 * last.high, 1 - last.value, 2 * (1 - last.low))


def _of_released(run, patients, reference):
    """What only the released files know."""
    patients = patients.set_index("item", drop=False)
    changed = checks.pairs(patients)[0][list(checks.COUNTS)].sum()
    entries, base, site = reference.groupby("site").size(), patients["base"], patients["site"]
    hits, terms = site.map(entries), vocabulary(run)
    misfits = functools.cache(lambda: agreement.misfits(run, reference, site))
    whole = not run.limit  # all patients are read
    late = (reference["onset"] == "long-term").groupby(reference["effect"]).all()
    one = reference.groupby("effect")["frequency"].nunique() == 1
    one_at_site = reference.groupby(["site", "effect"])["frequency"].nunique() == 1
    return {
        "reference": reference,
        "patients": len(patients),
        "specified": patients["specified"].nunique(),
        "sites": site.nunique(),
        "fields": base.map(lambda text: len(checks.fields(text))),
        "mentions": changed["mentions"],
        "followed": changed["specified"],
        "replaced": changed["lost"],
        "elsewhere": changed["elsewhere"],
        "no_site": ~base.str.contains(checks.TARGETED, case=False),
        "given": ~base.str.contains(r"radiation[^.]*\bplanned", case=False),
        "wall_kept": base.str.contains("lumpectomy", case=False)
        & site.str.startswith("chest wall"),
        "breast_gone": base.str.contains("mastectomy", case=False) & site.str.startswith("breast"),
        "terms_at_site": entries,
        "copy_precision": (hits / len(terms)).mean() if whole else None,
        "copy_f1": (2 * hits / (len(terms) + hits)).mean() if whole else None,
        "faultless": _faultless(hits, reference),
        "late_terms": _late(reference.drop_duplicates(["effect", "onset", "frequency"])),
        "late_entries": _late(reference),
        "named_late": late[NAMED],
        "effects": set(reference["effect"]),
        "levels": [reference["frequency"].nunique(), reference["onset"].nunique()],
        "one_frequency": one,
        "one_frequency_at_site": one_at_site,
        "dose_named": checks.dose_named(run, reference),
        "fit": lambda way: agreement.fit(misfits(), way),
    }


RELEASED = (
    "reference patients specified sites fields mentions followed replaced elsewhere no_site given"
    " wall_kept breast_gone terms_at_site copy_precision copy_f1 faultless late_terms late_entries"
    " named_late effects levels one_frequency one_frequency_at_site dose_named fit"
).split()


def _faultless(hits, reference):
    """The least overlap of faultless lists, a mean over patients.

    The specified list is the site's reference. The base list, made without a site, has the effects
    of all sites in common, or those of any site.
    """
    sites = reference.groupby("effect")["site"].nunique()
    core = (sites == reference["site"].nunique()).sum()
    return min((core / hits).mean(), (hits / len(sites)).mean())


def _late(entries):
    """The share of long-term ones among uncommon and extremely rare effects."""
    late = (entries["onset"] == "long-term").groupby(entries["frequency"]).mean()
    return late[["uncommon", "extremely rare"]]


# ---- functions that tests call


def apart(ends: pd.DataFrame) -> np.ndarray:
    """For each pair of models 1, -1 or 0: the first's interval lies above, below, or they meet."""
    up = ends["low"].to_numpy()[:, None] > ends["high"].to_numpy()
    return (up.astype(int) - up.T)[np.triu_indices(len(ends), 1)]


def meet(first: pd.DataFrame, second: pd.DataFrame) -> pd.Series:
    """By model: do two intervals meet?"""
    return (first["low"] <= second["high"]) & (second["low"] <= first["high"])


def beaten(table: Rounded, models: list[str]) -> pd.Series:
    """By model and column: how many other models surely have less."""
    pairs = product(models, table.value)
    return pd.Series(
        {(m, c): int((table[c][m] - table[c].drop(m) > 0).sure.sum()) for m, c in pairs}
    )


def models(which: Comparison) -> list[str]:
    """Of which models it is surely true."""
    return [*which.sure.index[which.sure]]


def same(first: Any, second: Any) -> Verdict:
    """Do two lists hold the same?"""
    return Verdict(
        set(first) == set(second), ", ".join(first) if len(first) < 5 else f"{len(first)}"
    )


def only_support(verdict: Verdict) -> Verdict:
    """A verdict whose no proves nothing."""
    return Verdict(verdict.holds or None, verdict.told)


def surely_above(percent: float, n: float, bound: float) -> Verdict:
    """Is the 95% interval (Wilson) of a printed share of n above a bound, in percent?"""
    found = stats.wilson(round(percent * n / 100), int(n))
    low, high = 100 * found.low, 100 * found.high
    return Verdict(low > bound, f"95% interval of {n:g}: {low:.0f} to {high:.0f}%", low, high)


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
        apart,
        meet,
        beaten,
        models,
        same,
        only_support,
        surely_above,
        whole_number,
        any_number_from,
        harmonic,
    )
}
