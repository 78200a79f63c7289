"""The second version's printed numbers on the cures: Table 1, and what its text says of it."""

import pandas as pd

from bedside import published
from bedside.claims import reading

from .. import versions
from ..printed import QUESTIONS
from .items import SETS
from .scores import pairs_as_one, share

MYTH, NFP, MEDQA, PUBMEDQA = SETS
CURES = {  # rows of Table 1: without and with a cure
    "GPT-4o": ("GPT-4o Plain", "GPT-4o GEPA"),
    "Gemini-2.5-Pro": ("Gemini-2.5-Pro Plain", "Gemini-2.5-Pro GEPA"),
    "MDAgents": ("GPT-4o with MDAgents Plain", "GPT-4o with MDAgents Monitor"),
}


def rates(run):
    """Table 1 as printed, as `scores.rates`: intervals of counts that print as its percentages."""
    size = {MYTH: QUESTIONS, NFP: int(published.value(run.paper, "v2 text method", "NFP", "count"))}
    rows = [
        {"row": r.row, "column": r.column, **share(round(r.value * n / 100), n)}
        for r in run.published("v2 Table 1").itertuples()
        if (n := size.get(r.column))
    ]
    return pd.DataFrame(rows)


def readings(run):
    """Readings of the claims on the cures, {id: readings}: the text held against Table 1."""
    cell = run.published("v2 Table 1").set_index(["row", "column"])["value"]
    change = {
        name: {
            cure: cell[after, name] - cell[before, name] for cure, (before, after) in CURES.items()
        }
        for name in SETS
    }
    return {
        **_on_changes(change),
        **_on_text(run, cell, change),
        **_on_agents(cell),
        **_on_pairs(pairs_as_one(rates(run)).set_index("row")),
    }


def _on_changes(change):
    """What each cure does to each set, in points."""
    told = {
        name: ", ".join(f"{cure} {points:+.0f}" for cure, points in by.items())
        for name, by in change.items()
    }
    exams = [*change[MEDQA].values(), *change[PUBMEDQA].values()]
    on_exams = f"MedQA {told[MEDQA]}; PubMedQA {told[PUBMEDQA]}"
    return {
        "cm-cures-correct": reading(told[MYTH], min(change[MYTH].values()) > 0),
        "cm-cures-over-correct": reading(told[NFP], max(change[NFP].values()) < 0),
        "cm-cures-exams": reading(on_exams, max(exams) < 0),
    }


def _on_text(run, cell, change):
    """Numbers of the text beside those that Table 1 gives."""
    pair = {
        quantity: part["value"].tolist()
        for quantity, part in versions.derived(run).groupby("quantity")
    }
    lost = [-change[exam][model] for model in ("GPT-4o", "Gemini-2.5-Pro") for exam in SETS[2:]]
    least, lowest = pair["least drop on other benchmarks with GEPA, %"]
    most, highest = pair["largest drop on other benchmarks with GEPA, %"]
    over_said, over = pair["Gemini-2.5-Pro with GEPA, over-correction, %"]
    monitor_said, monitor = pair["GPT-4o with MDAgents and monitor, over-correction, %"]
    plain, cured = (cell[row, NFP] for row in CURES["Gemini-2.5-Pro"])
    points = f"{min(lost):.0f} to {max(lost):.0f} points"
    return {
        "cm-gepa-drop-range": reading(
            f"{points}, {lowest:.1f} to {highest:.1f}% of the plain accuracy",
            (round(lowest), round(highest)) == (least, most),
        ),
        "cm-gepa-over-28": reading(
            f"{over:.0f}% by Table 1; {over_said:.0f} is the fall from {plain:.0f} to {cured:.0f}",
            over == over_said,
        ),
        "cm-monitor-65": reading(f"{monitor:.0f}% by Table 1", monitor == monitor_said),
    }


def _on_agents(cell):
    """Agents on exam questions and on false presuppositions."""
    alone, team = cell["GPT-4o Plain"], cell["GPT-4o with MDAgents Plain"]
    exam = f"MedQA {team[MEDQA]:.0f} against {alone[MEDQA]:.0f}"
    myth = f"Cancer-Myth {team[MYTH]:.0f} against {alone[MYTH]:.0f}"
    holds = team[MEDQA] > alone[MEDQA] and team[MYTH] < alone[MYTH]
    return {"cm-agents-exams": reading(f"{exam}; {myth}", holds)}


def _on_pairs(one):
    """Correction and over-correction as one number: is anything gained?"""
    moved = [
        f"{cure} {one.loc[before, 'value']:.1f} to {one.loc[after, 'value']:.1f}"
        for cure, (before, after) in CURES.items()
    ]
    gained = [one.loc[after, "low"] > one.loc[before, "high"] for before, after in CURES.values()]
    value, low, high = one.loc["GPT-4o Plain", ["value", "low", "high"]]
    return {
        "cm-cures-lose-overall": reading("; ".join(moved), not any(gained)),
        "cm-gpt4o-coin": reading(
            f"balanced accuracy {value:.1f} [{low:.1f}, {high:.1f}]", low > 50
        ),
    }
