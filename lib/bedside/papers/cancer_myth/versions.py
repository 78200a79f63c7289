"""Cancer-Myth and the summary of its second version: numbers printed in several places.

The paper is the first version; the second is at hand in a third party's summary only.
"""

import pandas as pd

from bedside import stats
from bedside.read import published

from .printed import QUESTIONS, SUMMARY, TEXTS, decimals

SAME = {  # one quantity under several labels: (row, column) of data/published
    "released questions": [("dataset", "questions"), ("released", "all"), ("released", "count")],
    "upper bound of all models' PCR": [("best model", "PCR")],
    "models evaluated": [("models evaluated", "count")],
    "GPT-4o, PCR": [("GPT-4o", "PCR"), ("GPT-4o Plain", "Cancer-Myth")],
    "Gemini-2.5-Pro, PCR": [("Gemini-2.5-Pro", "PCR"), ("Gemini-2.5-Pro Plain", "Cancer-Myth")],
    "MDAgents (GPT-4o), PCR": [
        ("MDAgents (GPT-4o)", "PCR"),
        ("GPT-4o with MDAgents Plain", "Cancer-Myth"),
    ],
    "Gemini-2.5-Pro with GEPA, PCR": [
        ("Gemini-2.5-Pro with GEPA", "PCR"),
        ("Gemini-2.5-Pro GEPA", "Cancer-Myth"),
    ],
    "Gemini-2.5-Pro, NFP": [
        ("Gemini-2.5-Pro plain", "NFP"),
        ("Gemini-2.5-Pro Plain", "Cancer-Myth-NFP"),
    ],
    "Gemini-2.5-Pro with GEPA, NFP": [
        ("Gemini-2.5-Pro with GEPA", "NFP"),
        ("Gemini-2.5-Pro GEPA", "Cancer-Myth-NFP"),
    ],
    "rated paragraphs": [("paragraphs with advice", "count"), ("paragraphs", "count")],
    "first valid set": [
        ("annotated for categories", "count"),
        ("valid at first", "count"),
        ("examples", "count"),
    ],
    "categoriser's agreement with people, %": [
        ("categoriser agreement", "percent"),
        ("Categorisation", "label agreement"),
    ],
}
CHANGED = {"upper bound of all models' PCR", "models evaluated"}  # version 2: more, newer models
DIFFERENT, NEW, ROUNDED, ALIKE = KINDS = (  # how the numbers of a quantity differ
    "different numbers",
    "changed since the first version",
    "the same, rounded",
    "the same",
)
COLUMNS = ["quantity", "place", "source", "version", "value", "about"]


def in_words(place: str) -> str:
    """A place of data/published: which text, and where in it."""
    return place.replace("v1 ", "paper, ").replace("v2 ", f"{SUMMARY}, ")


def compared(run) -> pd.DataFrame:
    """Every quantity that is printed in several places, or follows from others: a row for each.

    Columns: quantity; place, in words; source (published, recomputed); version (1 in the paper, 2
    in the summary of the second); value; about (whether it is approximate); kind (KINDS, in whose
    order the rows are); within (the texts that disagree with themselves, or empty). Rounded: alike
    at the fewest decimals printed (`about`: within one). New: something else was measured.
    """
    found = pd.concat([_printed(run), _derived(run)], ignore_index=True)
    kinds, within = {}, {}
    for quantity, part in found.groupby("quantity", sort=False):
        if part["value"].nunique() == 1:
            kinds[quantity] = ALIKE
        elif _alike(part):
            kinds[quantity] = ROUNDED
        else:
            kinds[quantity] = NEW if quantity in CHANGED else DIFFERENT
        odd = [TEXTS[v] for v, mine in part.groupby("version") if not _alike(mine)]
        within[quantity] = ", ".join(odd)
    quantity = found["quantity"]
    found = found.assign(kind=quantity.map(kinds), within=quantity.map(within))
    return found.sort_values("kind", key=lambda k: k.map(KINDS.index), kind="stable")


def _printed(run):
    """Quantities printed in several places."""
    names = {label: quantity for quantity, labels in SAME.items() for label in labels}
    frame = run.published(*published.load(run.paper)["table"].unique())
    labels = zip(frame["row"], frame["column"])
    frame = frame.assign(
        # a label that is not in SAME is a quantity of its own
        quantity=[names.get(label, ", ".join(label)) for label in labels],
        place=frame["table"].map(in_words),
        source="published",
        version=frame["table"].str[1].astype(int),
        about=frame["note"].str.startswith("approximately"),
    )
    frame = frame.drop_duplicates(["quantity", "place"])[COLUMNS]
    return frame[frame.groupby("quantity")["place"].transform("size") > 1]


def _derived(run):
    """Numbers of the summary's text that also follow from its Table 1."""
    text = run.published("v2 text results").set_index(["row", "column"])["value"]
    cell = run.published("v2 Table 1").set_index(["row", "column"])["value"]
    drop = [
        100 * (1 - cell[f"{model} GEPA", exam] / cell[f"{model} Plain", exam])
        for model in ("GPT-4o", "Gemini-2.5-Pro")
        for exam in ("MedQA", "PubMedQA")
    ]
    lost = {row: 100 - share for (row, name), share in cell.items() if name == "Cancer-Myth-NFP"}
    told = text["Drop on other benchmarks with GEPA"]
    both = {
        "Gemini-2.5-Pro with GEPA, over-correction, %": (
            text["Gemini-2.5-Pro with GEPA", "over-correction"],
            lost["Gemini-2.5-Pro GEPA"],
        ),
        "GPT-4o with MDAgents and monitor, over-correction, %": (
            text["Monitor misidentifies", "percent"],
            lost["GPT-4o with MDAgents Monitor"],
        ),
        "least drop on other benchmarks with GEPA, %": (told["least"], min(drop)),
        "largest drop on other benchmarks with GEPA, %": (told["most"], max(drop)),
    }
    places = {"published": "v2 text results", "recomputed": "recomputed from v2 Table 1"}
    rows = [
        (quantity, in_words(place), source, 2, value, False)
        for quantity, values in both.items()
        for (source, place), value in zip(places.items(), values)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _alike(part):
    values = part["value"]
    if part["about"].any():
        return values.max() - values.min() <= 1
    fewest = min(len(f"{v:g}".partition(".")[2]) for v in values)
    return len({round(v + 1e-9, fewest) for v in values}) == 1


def names(run):
    """What tests of claims on the two texts may use (`claims.names`)."""
    found = compared(run)
    bad = found[found["kind"] == DIFFERENT]
    across = bad[~bad["quantity"].isin(bad.loc[bad["within"] != "", "quantity"])]
    both = across.groupby("quantity")["value"].unique()
    mine = found[found["quantity"] == "GPT-4o, PCR"]
    said = mine.loc[mine["version"] == 2, "value"].drop_duplicates()
    right = [{*stats.grim_counts(v, QUESTIONS, decimals(v))} for v in said]
    return {
        "across": [f"{q}: {' and '.join(f'{v:g}' for v in said)}" for q, said in both.items()],
        "within_paper": [*bad.loc[bad["within"].str.contains(TEXTS[1]), "quantity"].unique()],
        "right_by_both": sorted(set.intersection(*right)),  # that GPT-4o's two rates both allow
        "p_twice": chance(mine),
    }


def chance(mine):
    """p of two proportions: a quantity's least and largest rate, if each came from a new run."""
    x, y = (round(QUESTIONS / 100 * rate) for rate in (mine["value"].min(), mine["value"].max()))
    return stats.two_proportions(x, QUESTIONS, y, QUESTIONS)
