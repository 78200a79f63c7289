"""MedDialBench: what its claims on baseline and cases come to (sections 3.3 and 4.1)."""

from bedside.claims import reading, same

from ..data import osce
from ..design import BASELINE
from . import EFFICIENT, EXHAUSTIVE, MODELS, counts, share, wide

# in descriptions of patients: those too young to be interviewed
YOUNG = r"newborn|infant|\b(?:day|week|month)-?s?-old|^[1-3]-year|g \("


def readings(run):
    """Readings of the claims on printed numbers: {id: readings}."""
    two, mine = wide(run, "Table 2"), share(run).loc[BASELINE]
    ratio = two["Coverage"] / two["Turns"]
    more = two["Cov/Turn"] - ratio
    above = two["Cov/Turn"] >= ratio - 0.0005
    fast, slow = two.loc[EFFICIENT], two.loc[EXHAUSTIVE]
    turns = [x["Turns"] for x in (fast, slow)]
    said = run.published("text 4.1").set_index("row")
    spans = [said.loc[f"{x} models", ["low", "high"]] for x in ("efficient", "exhaustive")]
    within = [s["low"] <= t.min() and round(t.max()) <= s["high"] for t, s in zip(turns, spans)]
    most, least = fast["Coverage"].max(), slow["Coverage"].min()
    agree = all(f"{mine[m]:.1f}" == f"{two.at[m, 'Acc']:.1f}" for m in MODELS)
    above_told = f"{above.sum()} of 5, {more.min():.3f} to {more.max():.3f} above"
    return {
        "md-counts": reading(
            f"{counts().size} of 85 have exactly one count", counts().size == len(MODELS) * 17
        ),
        "md-baseline": reading(", ".join(f"{v:.1f}" for v in mine), agree),
        "md-per-turn": reading(
            ", ".join(f"{v:.3f}" for v in ratio), bool((more.abs() < 0.001).all())
        ),
        "md-per-turn-mean": reading(above_told, bool(above.all())),
        "md-strategies": reading(" and ".join(f"{t.min()}-{t.max()}" for t in turns), all(within)),
        "md-coverage-order": reading(f"{most} and {least}", most < least),
    }


def of_cases(run):
    """Readings of the claims on the released OSCE cases: {id: readings}."""
    cases = osce(run)
    young = cases["patient"].str.contains(YOUNG, case=False).sum()
    named = cases["diagnosis"].str.lower().str.replace(r"\W*\(.*|['’]s\b", "", regex=True)
    record = " ".join(cases.set_index("item").loc["osce-079", ["history", "patient"]])
    says = "59" in record and "3 minutes" in record
    different = f"{named.nunique()} different ones but for spelling"
    return {
        "md-osce": same(run, "md-osce", len(cases), 0),
        "md-speak": reading(f"{young} of {len(cases)} are", not young),
        "md-distinct": reading(different, named.is_unique),
        "md-case-079": reading("the record says so" if says else "it doesn't", says),
    }
