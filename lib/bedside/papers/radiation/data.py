"""Radiation: its sources as frames: patients with two profiles each, the reference, the terms.

The two profiles of a patient differ in the site of the radiation alone; `difference` shows it.
"""

import re
from difflib import SequenceMatcher, get_close_matches

import pandas as pd

from bedside import BedsideError
from bedside.judging import trust_cards
from bedside.read.checks import normal
from bedside.read.sources import first_items
from bedside.run import Run

SITES = [
    "accelerated partial breast irradiation",
    "chest wall",
    "chest wall and nodes",
    "breast and nodes",
    "breast only",
]
FREQUENCIES = ["common", "uncommon", "rare", "extremely rare"]
ONSETS = ["short-term", "long-term"]
CELLS = [(o, f) for o in ONSETS for f in FREQUENCIES]
PROFILES = ["base", "specified"]
REGIMES = {  # section 3.4: is there a list to choose from? is a list size asked for?
    "free-form": {"listed": False, "sized": False},
    "free-form, 20-30": {"listed": False, "sized": True},
    "selection": {"listed": True, "sized": False},
    "selection, 20-30": {"listed": True, "sized": True},
}
LEAST, MOST = 20, 30  # the list size
FIELDS = {
    "age": "Age",
    "gender": "Gender",
    "diagnosis": "Cancer diagnosis",
    "history": "Past medical history",
    "prior_treatments": "Prior cancer treatments",
    "current_treatments": "Current cancer treatments",
    "medications": "Current medications",
    "last_visit": "Most recent oncology visit",
}
MENTION = re.compile(r"\bradiation\b", re.I)
REFERENCE_FILE, PROFILES_FILE = "breast-rt-side-effects.xlsx", "RadiationProfiles.xlsx"


def profiles(run: Run, whole: bool = False) -> pd.DataFrame:
    """The patients (sections 3.1, 3.2): frame item, site, base, specified (texts).

    whole: all patients despite LIMIT. In the sample the program writes the specified text; the
    released file holds both texts, and the site is what was added. Raises BedsideError for a
    profile that mentions no radiation or whose site isn't one of SITES.
    """
    if run.profile == "sample":
        frame = run.load("radiation_profiles_sample")
        records = frame.to_dict("records")
        frame["base"] = ["\n".join(f"{FIELDS[f]}: {r[f]}" for f in FIELDS) for r in records]
        frame["specified"] = [specify(r.base, r.site, r.item) for r in frame.itertuples()]
    else:
        columns = {"ProfilesNoLocation": "base", "ProfilesLocation": "specified"}
        frame = run.load("radiation_profiles").rename(columns=columns)
        frame["item"] = [f"profile-{i:02d}" for i in range(1, len(frame) + 1)]
        frame["site"] = [_site(r.item, r.base, r.specified) for r in frame.itertuples()]
    if len(strange := frame[~frame["site"].isin(SITES)]):
        item, site = strange[["item", "site"]].iloc[0]
        raise BedsideError(f"{item}: site {site!r} is not one of {', '.join(SITES)}")
    return first_items(run, frame[["item", "site", "base", "specified"]], whole)


def specify(text, site, item=""):
    """The specified profile (3.2): the site after each mention of radiation, all else unchanged."""
    if not MENTION.search(text):
        raise BedsideError(
            f"profile {item!r} mentions no radiation, so no site can be added. Leave it out."
        )
    return MENTION.sub(lambda m: f"{m[0]} ({site})", text)


def labelled_replies(run, pairs):
    """Of these pairs (predicted, reference) those that Bedside's authors labelled blind: + label.

    The authors' second labels are rows of a judge of their own. Pairs of lists that were recorded
    anew since then aren't among them, and none of public.
    """
    if run.profile != "sample":
        return pairs.head(0)
    labels = run.load("radiation_labelled_replies")
    labels = labels.assign(said=labels["predicted"].map(normal))[
        ["said", "reference", "label", "label_again"]
    ]
    pairs = pairs.drop(columns="label").assign(said=pairs["predicted"].map(normal))
    pairs = pairs.merge(labels, on=["said", "reference"], validate="many_to_one")
    return trust_cards.with_second_labels(pairs, ["said", "reference"])


def difference(base: str, specified: str) -> list[tuple[str, str]]:
    """The exact difference of a pair, word by word: [(removed text, added text)] in order.

    Spaces count as words.
    """
    a, b = (re.findall(r"\s+|\w+|[^\w\s]", t) for t in (base, specified))
    return [
        ("".join(a[i:j]), "".join(b[k:m]))
        for what, i, j, k, m in SequenceMatcher(None, a, b, False).get_opcodes()
        if what != "equal"
    ]


def _site(item, base, specified):
    added = normal(" ".join(new for _, new in difference(base, specified)))
    found = [s for s in SITES if s in added]
    if not found:
        raise BedsideError(
            f"{PROFILES_FILE}, {item}: no known site in what was added ({added[:80]!r})"
        )
    return max(found, key=len)


def vocabulary(run: Run) -> list[str]:
    """The list that models choose from: the terms of appendix A.3 in their order."""
    return run.published("Appendix A.3")["row"].tolist()


def reference(run: Run) -> pd.DataFrame:
    """The reference (section 3.3), a row for each effect of a site: effect, site, onset, frequency.

    Raises BedsideError for a row with an unknown value and for an effect that a site has twice.
    """
    if run.profile == "sample":
        frame = run.load("radiation_reference_sample").explode("sites")
        frame = frame.rename(columns={"sites": "site"})
    else:
        frame = repaired(run)[0]
    frame = frame[["effect", "site", "onset", "frequency"]]
    valid = {"site": SITES, "onset": ONSETS, "frequency": FREQUENCIES, "effect": vocabulary(run)}
    for column, values in valid.items():
        if len(strange := frame[~frame[column].isin(values)]):
            row = strange.iloc[0].to_dict()
            raise BedsideError(f"the reference: {row}: {column} isn't one of {', '.join(values)}")
    if len(twice := frame[frame.duplicated(["effect", "site"])]):
        effect, site = twice[["effect", "site"]].iloc[0]
        raise BedsideError(f"the reference: {effect!r} occurs twice for {site!r}")
    places = frame["site"].map(SITES.index)
    return frame.iloc[places.argsort(kind="stable")].reset_index(drop=True)


def repaired(run):
    """The released reference, read strictly: (frame effect, site, onset, frequency; repairs).

    Every row is accounted for. repairs: frame row (numbered as in a spreadsheet), kind, found,
    read. Kinds: blank row, no site, category spelling, capitals, spaces, spelling. Raises
    BedsideError, with the row's number, for a row that nothing explains.
    """
    frame, terms = run.load("radiation_reference"), vocabulary(run)
    category, effect, *columns = frame.columns
    sites = {c: normal(re.sub(r"\(.*\)", "", c)) for c in columns}
    rows, repairs = [], []
    for number, r in enumerate(frame.to_dict("records"), 2):
        if not any(r.values()):
            repairs.append((number, "blank row", "", ""))
            continue
        onset, frequency = _category(number, r[category])
        found, term = r[effect], _nearest(number, r[effect], terms)
        if strange := {*(r[c] for c in columns)} - {"x", ""}:
            raise _unread(number, f"{sorted(strange)[0]!r} where x or nothing should be")
        if r[category] != (meant := f"{onset} - {frequency}"):
            repairs.append((number, "category spelling", r[category], meant))
        differs = {
            "spaces": found != found.strip(),
            "capitals": any(c.isupper() for c in found.strip()[1:]),
            "spelling": found.strip().lower() != term,
        }
        repairs += [(number, kind, found, term) for kind, so in differs.items() if so]
        marked = [site for column, site in sites.items() if r[column] == "x"]
        if not marked:
            repairs.append((number, "no site", f"{found} ({r[category]})", ""))
        rows += [(term, site, onset, frequency) for site in marked]
    return (
        pd.DataFrame(rows, columns=["effect", "site", "onset", "frequency"]),
        pd.DataFrame(repairs, columns=["row", "kind", "found", "read"]),
    )


def _category(number, text):
    """(onset, frequency) of a category such as 'Short term- uncommon'."""
    said, parts = normal(text), []
    for values in (ONSETS, FREQUENCIES):
        longest = sorted(values, key=len, reverse=True)
        parts.append(next((v for v in longest if normal(v) in said), None))
    if None in parts:
        raise _unread(number, f"category {text!r} has no onset or no frequency")
    return parts


def _nearest(number, text, terms):
    """The term of appendix A.3 that a released wording stands for."""
    near = get_close_matches(text.strip().lower(), terms, 1, 0.85)
    if not near:
        raise _unread(number, f"{text!r} is not a term of appendix A.3")
    return near[0]


def _unread(number, why):
    return BedsideError(
        f"{REFERENCE_FILE}, row {number}: {why}. Fetch the file anew: make data PROFILE=public"
    )
