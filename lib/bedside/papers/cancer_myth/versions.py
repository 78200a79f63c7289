"""Cancer-Myth and the summary of its second version: numbers printed in several places.

The paper is the first version; the second is at hand in a third party's summary only.
"""

from pathlib import Path

import pandas as pd

from bedside import stats
from bedside.read import paths, published

from .printed import QUESTIONS, SUMMARY, TEXTS, decimals

SAME = paths.toml(Path(__file__).with_suffix(".toml"))
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
    for quantity, part in found.groupby("quantity"):
        kind = NEW if quantity in CHANGED else DIFFERENT
        kind = ROUNDED if _alike(part) else kind
        odd = [TEXTS[v] for v, mine in part.groupby("version") if not _alike(mine)]
        kind = ALIKE if part["value"].nunique() == 1 else kind
        found.loc[part.index, ["kind", "within"]] = kind, ", ".join(odd)
    return found.sort_values("kind", key=lambda k: k.map(KINDS.index), kind="stable")


def _printed(run):
    """Quantities printed in several places."""
    names = {tuple(label): quantity for quantity, labels in SAME.items() for label in labels}
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
    table = run.published("v2 Table 1").pivot(index="row", columns="column", values="value")
    lost, exams = 100 - table["Cancer-Myth-NFP"], table[["MedQA", "PubMedQA"]]
    cured = exams.loc[["GPT-4o GEPA", "Gemini-2.5-Pro GEPA"]].to_numpy()
    drop = 100 * (1 - cured / exams.loc[["GPT-4o Plain", "Gemini-2.5-Pro Plain"]])
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
        "least drop on other benchmarks with GEPA, %": (told["least"], drop.min(axis=None)),
        "largest drop on other benchmarks with GEPA, %": (told["most"], drop.max(axis=None)),
    }
    places = {"v2 text results": "published", "recomputed from v2 Table 1": "recomputed"}
    rows = pd.DataFrame(both, index=[*places]).T.stack().rename_axis(["quantity", "place"])
    rows = rows.rename("value").reset_index().assign(version=2, about=False)
    return rows.assign(source=rows["place"].map(places), place=rows["place"].map(in_words))


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
    x, y = (round(QUESTIONS / 100 * rate) for rate in mine["value"].agg(["min", "max"]))
    return stats.two_proportions(x, QUESTIONS, y, QUESTIONS)
