"""Radiation: checks of the released records and reference, and of the paper's words on them."""

import re

import pandas as pd

from bedside import claims
from bedside.checks import normal
from bedside.claims import reading, same

from .data import LEAST, MENTION, MOST, difference, vocabulary

COUNTS = {
    "mentions": "mentions of radiation",
    "specified": "followed by the site",
    "lost": "word replaced by the site",
    "capitals": "capital letter changed",
    "spaces": "spaces changed",
    "elsewhere": "words changed elsewhere",
}


def pairs(patients):
    """What differs inside each pair: (counts by item, the differences item, removed, added).

    COUNTS: mentions of radiation in the base text. specified: of them, those followed by the site.
    lost: where the site took the word's place. capitals: mentions whose capital letter changed.
    spaces: changes of nothing but spaces. elsewhere: words changed anywhere else, which a pair
    must not have.
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
    """What one difference of a pair adds to the counts."""
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
    """The labels of an EHR-shaped profile, in order: before the first colon of a line with more."""
    parts = [line.partition(":") for line in text.splitlines()]
    return [label.strip() for label, _, more in parts if label.strip() and more.strip()]


def frequencies(reference):
    """The effects that have several frequencies, and which: a series by effect."""
    kinds = reference.groupby("effect")["frequency"].unique()
    return kinds[kinds.str.len() > 1].map(", ".join)


def readings(run, patients, reference, counts):
    """{id: readings} of the claims on the released files, no readings for the sample.

    counts: of `pairs`.
    """
    found = {
        **_record_readings(run, patients),
        **_pair_readings(run, patients, counts),
        **_reference_readings(run, reference),
    }
    return found if run.profile == "public" else dict.fromkeys(found, {})


def _said(run, id):
    """The number that a claim names."""
    return claims.load(run.paper)[id].value


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


def _pair_readings(run, patients, counts):
    total, base = counts[list(COUNTS)].sum(), patients["base"]
    lost, capitals = (counts["lost"] > 0).sum(), (counts["capitals"] > 0).sum()
    planned = patients["item"][base.str.contains(r"radiation[^.]*\bplanned", case=False)]
    kept = base.str.contains("lumpectomy", case=False)
    odd = patients["item"][kept & patients["site"].str.startswith("chest wall")]
    return {
        "rad-elsewhere": reading(
            f"words changed elsewhere: {total['elsewhere']}; spaces: {total['spaces']}",
            not total["elsewhere"],
        ),
        "rad-appended": reading(
            f"{lost} pairs lose the word, {capitals} change its capital letter, none has brackets",
            not lost + capitals,
        ),
        "rad-begun": reading(f"planned only: {', '.join(planned) or 'none'}", planned.empty),
        "rad-realistic": reading(
            f"chest wall after lumpectomy: {', '.join(odd) or 'none'}", odd.empty
        ),
    }


def _reference_readings(run, reference):
    size = reference.groupby("site", sort=False).size()
    effects, two = set(reference["effect"]), frequencies(reference)
    levels = reference["frequency"].nunique(), reference["onset"].nunique()
    said = run.published("text 3.3").set_index("row")["value"]
    return {
        "rad-lengths": reading(", ".join(map(str, size)), size.between(LEAST, MOST).mean() > 0.5),
        "rad-vocabulary": reading(f"{len(effects)} terms", set(vocabulary(run)) == effects),
        "rad-levels": reading(
            "{} and {}".format(*levels), levels == (said["frequencies"], said["onsets"])
        ),
        "rad-one-frequency": reading(f"two, by site: {', '.join(two.index)}", two.empty),
    }
