"""Radiation side effects: profiles in pairs (section 3.2), the reference (3.3), and lists asked for in four regimes (3.4).

Frames are long, with `item` (the patient) and `model` columns, joined by id.
"""

import json
import re
from difflib import SequenceMatcher, get_close_matches

from bedside import BedsideError, judges
from bedside.checks import normal
from bedside.models import answers_of
from bedside.sources import limited

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
REGIMES = {
    "free-form": {"listed": False, "sized": False},
    "free-form, 20-30": {"listed": False, "sized": True},
    "selection": {"listed": True, "sized": False},
    "selection, 20-30": {"listed": True, "sized": True},
}
LEAST, MOST = 20, 30  # section 3.4: the size that two of the regimes ask for
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


def profiles(run, whole=False):
    """The patients (sections 3.1, 3.2): item, site, base, specified (texts); LIMIT or all.

    In the sample the program writes the specified text; the released file holds both, and the site is read off what
    was added. BedsideError names a profile that mentions no radiation or whose site isn't one of SITES.
    """
    if run.profile == "sample":
        frame = run.load("radiation_profiles_sample")
        frame["base"] = [
            "\n".join(f"{label}: {r[f]}" for f, label in FIELDS.items())
            for r in frame.to_dict("records")
        ]
        frame["specified"] = [specify(r.base, r.site, r.item) for r in frame.itertuples()]
    else:
        frame = run.load("radiation_profiles")
        frame = frame.rename(
            columns={"ProfilesNoLocation": "base", "ProfilesLocation": "specified"}
        )
        frame["item"] = [f"profile-{i:02d}" for i in range(1, len(frame) + 1)]
        frame["site"] = [_site(r.item, r.base, r.specified) for r in frame.itertuples()]
    if (strange := frame[~frame["site"].isin(SITES)]).size:
        raise BedsideError(
            f"{strange['item'].iloc[0]}: site {strange['site'].iloc[0]!r} is none of"
            f" {', '.join(SITES)}"
        )
    return limited(run, frame[["item", "site", "base", "specified"]], whole)


def setting(run):
    """One sentence for captions: whose patients and reference this run's numbers rest on."""
    return "This run: " + (
        "the released patients and reference."
        if run.profile == "public"
        else "invented patients and an illustrative reference, not the paper's."
    )


def specify(text, site, item=""):
    """The specified profile (section 3.2): the site after each mention of radiation, nothing else changed."""
    if not MENTION.search(text):
        raise BedsideError(
            f"profile {item!r} mentions no radiation, so no site can be added; leave it out"
        )
    return MENTION.sub(lambda m: f"{m[0]} ({site})", text)


def difference(base, specified):
    """The exact difference of a pair: (removed, added) texts in order, word by word, spaces counted as words."""
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
            f"RadiationProfiles.xlsx, {item}: no known site in what was added ({added[:80]!r})"
        )
    return max(found, key=len)


def pair_check(frame):
    """What differs inside each pair, in counts: a frame of numbers by item, and of the differences themselves.

    mentions: of radiation in the base text. specified: of them, those followed by the site. lost: where the site took
    the word's place. capitals: mentions whose capital letter changed. spaces: changes of nothing but spaces.
    elsewhere: words changed anywhere else, which a pair must not have.
    """
    import pandas as pd

    rows, shown = [], []
    for r in frame.itertuples():
        counts = dict.fromkeys(
            ["mentions", "specified", "lost", "capitals", "spaces", "elsewhere"], 0
        )
        counts["mentions"] = len(MENTION.findall(r.base))
        counts["specified"] = len(re.findall(rf"\bradiation\W+{r.site}\b", r.specified, re.I))
        for old, new in difference(r.base, r.specified):
            if not (old + new).strip():
                counts["spaces"] += 1
            elif r.site in normal(new):
                before, after = (
                    normal(old),
                    normal(new).replace(r.site, "").replace("apbi", "").split(),
                )
                counts["lost"] += "radiation" in before.split() and "radiation" not in after
                counts["capitals"] += old[:1].islower() and new[:1].isupper()
                counts["elsewhere"] += bool({*before.split(), *after} - {"radiation"})
            else:
                counts["elsewhere"] += 1
            shown.append((r.item, old, new))
        rows.append({"item": r.item, "site": r.site, **counts})
    return pd.DataFrame(rows), pd.DataFrame(shown, columns=["item", "removed", "added"])


def read_fields(text):
    """The labels of an EHR-shaped profile, in order: what stands before the first colon of a line that has text after it."""
    return [
        label
        for line in text.splitlines()
        if (label := line.partition(":")[0].strip()) and line.partition(":")[2].strip()
    ]


def reference(run):
    """The reference (section 3.3): effect, site, onset, frequency; one row for each effect of each site."""
    import pandas as pd

    if run.profile == "sample":
        frame = (
            run.load("radiation_reference_sample")
            .explode("sites")
            .rename(columns={"sites": "site"})
        )
    else:
        frame = repaired(run)[0]
    frame = frame[["effect", "site", "onset", "frequency"]]
    for column, values in (
        ("site", SITES),
        ("onset", ONSETS),
        ("frequency", FREQUENCIES),
        ("effect", vocabulary(run)),
    ):
        if len(strange := frame[~frame[column].isin(values)]):
            raise BedsideError(
                f"the reference: {strange.iloc[0].to_dict()}: {column} isn't one of"
                f" {', '.join(values)}"
            )
    if len(twice := frame[frame.duplicated(["effect", "site"])]):
        raise BedsideError(
            f"the reference: {twice['effect'].iloc[0]!r} stands twice for {twice['site'].iloc[0]!r}"
        )
    return frame.sort_values(
        "site", key=lambda s: pd.Categorical(s, SITES), kind="stable", ignore_index=True
    )


def vocabulary(run):
    """The list that models choose from: the paper's terms in the order of appendix A.3."""
    return run.published("Appendix A.3")["row"].tolist()


def repaired(run):
    """The released reference read strictly: (frame effect, site, onset, frequency; repairs), every row accounted for.

    repairs: row (as a spreadsheet counts), kind, found, read. Kinds: blank row, no site, category spelling, capitals,
    spaces, spelling. A row that nothing explains is an error that names it.
    """
    import pandas as pd

    frame, terms = run.load("radiation_reference"), vocabulary(run)
    category, effect, *columns = frame.columns
    sites = {c: normal(re.sub(r"\(.*\)", "", c)) for c in columns}
    rows, repairs = [], []
    for number, r in enumerate(frame.to_dict("records"), 2):
        found = r[effect]
        if not any(r.values()):
            repairs.append((number, "blank row", "", ""))
            continue
        onset, frequency = _category(number, r[category])
        if r[category] != f"{onset} - {frequency}":
            repairs.append((number, "category spelling", r[category], f"{onset} - {frequency}"))
        near = get_close_matches(found.strip().lower(), terms, 1, 0.85)
        if not near:
            raise BedsideError(
                f"breast-rt-side-effects.xlsx, row {number}: {found!r} is no term of appendix A.3"
            )
        if strange := {*(r[c] for c in columns)} - {"x", ""}:
            raise BedsideError(
                f"breast-rt-side-effects.xlsx, row {number}: {sorted(strange)[0]!r} where x or"
                " nothing should be"
            )
        for kind, differs in (
            ("spaces", found != found.strip()),
            ("capitals", any(c.isupper() for c in found.strip()[1:])),
            ("spelling", found.strip().lower() != near[0]),
        ):
            if differs:
                repairs.append((number, kind, found, near[0]))
        marked = [s for c, s in sites.items() if r[c] == "x"]
        if not marked:
            repairs.append((number, "no site", f"{found} ({r[category]})", ""))
        rows += [(near[0], s, onset, frequency) for s in marked]
    return (
        pd.DataFrame(rows, columns=["effect", "site", "onset", "frequency"]),
        pd.DataFrame(repairs, columns=["row", "kind", "found", "read"]),
    )


def _category(number, text):
    """(onset, frequency) of a category such as 'Short term- uncommon'."""
    onset, frequency = (
        next((v for v in sorted(values, key=len, reverse=True) if normal(v) in normal(text)), None)
        for values in (ONSETS, FREQUENCIES)
    )
    if onset is None or frequency is None:
        raise BedsideError(
            f"breast-rt-side-effects.xlsx, row {number}: category {text!r} has no onset or no"
            " frequency"
        )
    return onset, frequency


async def lists(run, patients, regimes, max_tokens):
    """Lists of the run's models for both profiles of each patient (sections 3.4, 4.1), greedy.

    item, site, profile, regime, model, answer, truncated, status (listed, unparsed, refused or error), terms (a list),
    repeated (entries that stood there before), reply_status.
    """
    import pandas as pd

    effects = vocabulary(run)
    keys = [
        (f"{r.item}/{p}/{regime}", r.item, r.site, p, regime)
        for regime in regimes
        for p in PROFILES
        for r in patients.itertuples()
    ]
    texts = {(r.item, p): getattr(r, p) for r in patients.itertuples() for p in PROFILES}
    prompts = {
        key: run.prompt(
            "list",
            profile=texts[item, p],
            effects=effects if REGIMES[regime]["listed"] else [],
            least=LEAST if REGIMES[regime]["sized"] else 0,
            most=MOST,
        )
        for key, item, _, p, regime in keys
    }
    answered = (await answers_of(run, prompts, max_tokens)).rename(columns={"item": "key"})
    frame = pd.DataFrame(keys, columns=["key", "item", "site", "profile", "regime"]).merge(
        answered, on="key", validate="one_to_many"
    )
    read = [
        ("error", [], 0) if r.reply_status else parse_list(r.answer, r.truncated)
        for r in frame.itertuples()
    ]
    return frame.assign(**dict(zip(("status", "terms", "repeated"), map(list, zip(*read))))).drop(
        columns="key"
    )


BULLET = re.compile(
    r"^(?:[-–—*+•◦▪‣·●○](?!-)|\(?\d{1,3}(?:[.):]|\s?[-–]\s)|\(?[a-z][.)](?=\s))\s*(?:\[["
    r" x]?\]\s*)?",
    re.I,
)
HEADING = re.compile(
    r"(?:#.*|(?:the )?(?:possible |potential )?(?:(?:short|long)[-"
    r" ]?term|acute|early|late|delayed|chronic|"
    r"(?:extremely |very |less )?(?:common|uncommon|rare))(?:(?: side)?[- ]effects?)?(?: \(.*\))?)",
    re.I,
)
EXPLAINED = re.compile(r":\s+|\s+[-–—]\s+")
WORDS = 8  # a line without a bullet that has more is prose


def parse_list(text, truncated=False):
    """What a reply lists: (status, terms, repeated). status: listed, refused or unparsed.

    A JSON array of strings; else bulleted or numbered lines, and then only these; else one line of short entries between
    commas, by itself or after a colon; else short lines, one effect each. Headings go, explanations after a colon or a
    dash between spaces are cut off; a hyphen inside a term stays. A term counts once, `repeated` counts the others. The
    last entry of a truncated reply goes, unless the cut fell into its explanation.
    """
    if judges.REFUSALS.match(text):
        return "refused", [], 0
    try:
        lines = [
            f"- {t}"
            for t in json.loads(re.sub(r"^```\w*$", "", text, flags=re.M))
            if isinstance(t, str)
        ]
    except (ValueError, TypeError):
        lines = [
            re.sub(r"\*\*|__|`", "", line).strip() for line in text.replace("•", "\n•").splitlines()
        ]
    lines = [
        line for line in lines if line and not re.fullmatch(r"[\W_]+", line) and "|" not in line
    ]
    entries = [
        line
        for line, then in zip(lines, [*lines[1:], ""])
        if BULLET.match(line) and not (line.endswith(":") and BULLET.match(then))
    ]  # a heading of what follows
    if not entries and not (entries := _in_a_line(lines)):
        body = [line for line in lines if not line.endswith(":")]
        entries = [line for line in body if len(line.split()) <= WORDS]
        if len(entries) < 2 or len(entries) < 0.8 * len(body):
            return "unparsed", [], 0
    if (
        truncated
        and len(entries) > 1
        and lines[-1].endswith(entries[-1])
        and not EXPLAINED.search(entries[-1])
    ):
        entries.pop()
    found = [t for e in entries if (t := _term(BULLET.sub("", e)))]
    first = {}
    for term in found:
        first.setdefault(normal(term), term)
    return (
        ("listed", list(first.values()), len(found) - len(first)) if found else ("unparsed", [], 0)
    )


def _in_a_line(lines):
    """Four or more short entries between commas or semicolons in the last line, which is no sentence; else nothing."""
    if not lines or (
        lines[-1].endswith(".") and not any(re.search(r":(\s|$)", line) for line in lines)
    ):
        return []
    parts = [
        re.sub(r"^(?:and|or)\s+", "", t.strip())
        for t in re.split(r"[,;]", re.sub(r"^.*?:\s", "", lines[-1]).rstrip("."))
    ]
    return (
        parts
        if len(parts) > 3 and all(0 < len(t.split()) <= WORDS and ". " not in t for t in parts)
        else []
    )


def _term(entry):
    """The side effect that an entry names; empty for a heading."""
    entry = entry.rstrip(" :")
    if HEADING.fullmatch(entry):
        return ""
    head, *rest = EXPLAINED.split(entry, 1)
    term = " ".join(
        (rest[0] if rest and HEADING.fullmatch(head) else head).strip(" *_.,;:\"'").split()
    )
    return term if normal(term) else ""
