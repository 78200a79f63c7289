"""Radiation: checks of the released records and reference, and of what the paper says of them."""

import re

import pandas as pd

from bedside.read.checks import normal

from .data import MENTION, difference

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
