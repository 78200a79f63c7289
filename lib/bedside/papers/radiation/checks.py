"""Radiation: checks of the released records and reference, and of what the paper says of them."""

import re

import pandas as pd

from bedside.read import claims, sources
from bedside.read.checks import normal
from bedside.read.claims import reading, same

from .data import LEAST, MENTION, MOST, difference, vocabulary

COUNTS = {
    "mentions": "mentions of radiation",
    "specified": "followed by the site",
    "lost": "word replaced by the site",
    "capitals": "capital letter changed",
    "spaces": "spaces changed",
    "elsewhere": "words changed elsewhere",
}

# a type or a location of radiation right before the word, or in what follows it
PART = r"(?:breast|chest|nod|axill|partial|whole)\w*"
TARGETED = (
    rf"{PART}(?: wall)? radiation|radiation(?: therapy)? (?:\(|to |of )(?:the |left |right )*{PART}"
)


def pairs(patients):
    """The differences within each pair (3.2): (counts by item; frame item, removed, added).

    The counts are those of COUNTS. mentions: of radiation in the base text. specified: mentions
    that the site follows. lost: mentions that the site replaces. capitals: mentions whose capital
    letter changed. spaces: changes of spaces alone. elsewhere: words changed anywhere else, of
    which a pair must have none.
    """
    rows, changed = [], []
    for r in patients.itertuples():
        counts = dict.fromkeys(COUNTS, 0)
        counts["mentions"] = len(MENTION.findall(r.base))
        counts["specified"] = len(re.findall(rf"\bradiation\W+{r.site}\b", r.specified, re.I))
        for old, new in difference(r.base, r.specified):
            changed.append((r.item, old, new))
            for name, size in _counted(old, new, r.site).items():
                counts[name] += size
        rows.append({"item": r.item, "site": r.site, **counts})
    return pd.DataFrame(rows), pd.DataFrame(changed, columns=["item", "removed", "added"])


def _counted(old, new, site):
    """What a single difference within a pair adds to the counts."""
    if not (old + new).strip():
        return {"spaces": 1}
    if site not in normal(new):
        return {"elsewhere": 1}
    before = normal(old).split()
    after = normal(new).replace(site, "").replace("apbi", "").split()
    return {
        "lost": "radiation" in before and "radiation" not in after,
        "capitals": old[:1].islower() and new[:1].isupper(),
        "elsewhere": bool({*before, *after} - {"radiation"}),
    }


def fields(text):
    """The field labels of an EHR-style profile (3.1), in order: 'label: text' on a line."""
    parts = [line.partition(":") for line in text.splitlines()]
    return [label.strip() for label, _, more in parts if label.strip() and more.strip()]


def frequencies(reference):
    """The effects that have several frequencies: a series of these, as one text, by effect."""
    kinds = reference.groupby("effect")["frequency"].unique()
    return kinds[kinds.str.len() > 1].map(", ".join)


def readings(run, patients, reference, counts):
    """{id: readings} of the claims on the released files; for the sample nearly all are empty.

    patients, reference: of `study.inputs`, all patients. counts: of `pairs`.
    """
    found = {**_record_readings(run, patients), **_pair_readings(patients, counts)}
    found |= _reference_readings(run, reference)
    found = found if run.profile == "public" else dict.fromkeys(found, {})
    return found | {"rad-origin": _sum_reading(run), "rad-fields-named": _named_reading(run)}


def _said(run, id):
    """The number that a claim names."""
    return claims.load(run.paper)[id].value


def _sum_reading(run):
    """Do the printed numbers of profiles add up (3.1)? Where each is from isn't released."""
    n = run.published("text 3.1").set_index("row")["value"].astype(int)
    aime, kept, other = (
        n["AIME profiles that mention radiation"],
        n["AIME profiles"],
        n["OncQA profiles"],
    )
    left_out, all_ = n["AIME profiles excluded"], n["profiles"]
    told = f"{aime} - {left_out} + {other} = {aime - left_out + other}"
    return reading(told, kept == aime - left_out and kept + other == all_, name="their sum")


def _named_reading(run):
    """Does section 3.1 name as many fields as it says?"""
    named = run.published("fields of 3.1")["row"]
    return reading(f"{len(named)} named", len(named) == _said(run, "rad-fields-named"))


def _record_readings(run, patients):
    sites = patients["site"].value_counts()
    size = patients["base"].map(lambda text: len(fields(text)))
    return {
        "rad-profiles": same(run, "rad-profiles", len(patients), 0),
        "rad-pairs": same(run, "rad-pairs", patients["specified"].nunique(), 0),
        "rad-sites-used": reading(
            ", ".join(f"{k}: {v}" for k, v in sites.items()),
            len(sites) == _said(run, "rad-sites-used"),
        ),
        "rad-fields": reading(
            ", ".join(map(str, sorted(set(size)))), (size == _said(run, "rad-fields")).all()
        ),
    }


def _pair_readings(patients, counts):
    total, base, site = counts[list(COUNTS)].sum(), patients["base"], patients["site"]
    placed = total["specified"] + total["lost"]
    planned = base.str.contains(r"radiation[^.]*\bplanned", case=False)
    told = base.str.contains(TARGETED, case=False)
    kept = base.str.contains("lumpectomy", case=False) & site.str.startswith("chest wall")
    gone = base.str.contains("mastectomy", case=False) & site.str.startswith("breast")
    return {
        "rad-elsewhere": reading(
            f"words changed elsewhere: {total['elsewhere']}; spaces: {total['spaces']}",
            not total["elsewhere"],
        ),
        "rad-appended": {
            **reading(
                f"{total['specified']} of {total['mentions']} mentions",
                total["specified"] == total["mentions"],
                name="the site follows the word",
            ),
            **reading(
                f"{placed} of {total['mentions']} mentions",
                placed == total["mentions"] and not total["elsewhere"],
                name="the site follows the word or takes its place",
            ),
        },
        "rad-base": _without(patients, told),
        "rad-begun": _without(patients, planned),
        "rad-realistic": {
            **_some(patients, kept, "a chest wall after lumpectomy"),
            **_some(patients, kept | gone, "or a breast after mastectomy"),
        },
    }


def _without(patients, odd):
    """A reading that holds for all patients except the odd ones."""
    but = f", not {', '.join(patients['item'][odd])}" if odd.any() else ""
    return reading(f"{(~odd).sum()} of {len(odd)}{but}", not odd.any())


def _some(patients, odd, name):
    """A reading that holds if some patients are odd."""
    told = ", ".join(patients["item"][odd])
    return reading(f"{odd.sum()} of {len(odd)}: {told}", odd.any(), name=name)


def _reference_readings(run, reference):
    size = reference.groupby("site", sort=False).size()
    types = size.index  # as released they may say more, in brackets
    if run.profile == "public" and sources.here("radiation_reference"):
        types = run.load("radiation_reference").columns[2:]
    effects, two = set(reference["effect"]), frequencies(reference)
    levels = reference["frequency"].nunique(), reference["onset"].nunique()
    said = run.published("text 3.3").set_index("row")["value"]
    single = reference.groupby(["site", "effect"])["frequency"].nunique() == 1
    dose = types.str.contains(r"dose|fraction|\bgy\b", case=False)
    return {
        "rad-lengths": reading(", ".join(map(str, size)), size.between(LEAST, MOST).mean() > 0.5),
        "rad-vocabulary": reading(f"{len(effects)} terms", set(vocabulary(run)) == effects),
        "rad-levels": reading(
            "{} and {}".format(*levels), levels == (said["frequencies"], said["onsets"])
        ),
        "rad-one-frequency": {
            **reading(
                f"{len(effects) - len(two)} of {len(effects)}; not {', '.join(two.index)}",
                two.empty,
                name="each term",
            ),
            **reading(
                f"{single.sum()} of {len(single)}", single.all(), name="each effect of a site"
            ),
        },
        "rad-dose": reading(f"{dose.sum()} of {len(types)} types of radiation", dose.any()),
    }
