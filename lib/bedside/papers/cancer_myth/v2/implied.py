"""What the summary of the second version prints on mitigations: Table 1 and the text on it."""

from typing import NamedTuple

import pandas as pd

from bedside import stats
from bedside.read import published
from bedside.read.claims import between, every, in_words, near, outcome, reading
from bedside.run import Run

from .. import implied
from ..implied import QUESTIONS
from .items import SETS

MYTH, NFP, MEDQA, PUBMEDQA = SETS
CURES = {  # rows of Table 1: without and with a mitigation
    "GPT-4o": ("GPT-4o Plain", "GPT-4o GEPA"),
    "Gemini-2.5-Pro": ("Gemini-2.5-Pro Plain", "Gemini-2.5-Pro GEPA"),
    "MDAgents": ("GPT-4o with MDAgents Plain", "GPT-4o with MDAgents Monitor"),
}
HALF = 0.5  # how far a percentage may be from the printed whole number


def rates(run: Run) -> pd.DataFrame:
    """Table 1's percentages, with intervals over all counts that print as them.

    Columns: row, column, value, low, high, n, least, most (the counts).
    """
    size = {MYTH: QUESTIONS, NFP: int(published.value(run.paper, "v2 text method", "NFP", "count"))}
    said, rows = run.published("v2 Table 1"), []
    for r in said[said["column"].isin(size)].itertuples():  # the exams' sizes are not printed
        n = size[r.column]
        counts = stats.grim_counts(r.value, n, 0)
        least, most = counts[0], counts[-1]
        low, high = 100 * stats.wilson(least, n).low, 100 * stats.wilson(most, n).high
        rows.append((r.row, r.column, r.value, low, high, n, least, most))
    columns = ["row", "column", "value", "low", "high", "n", "least", "most"]
    return pd.DataFrame(rows, columns=columns)


def pairs_as_one(run):
    """Balanced accuracy of the printed rates, as `scores.pairs_as_one`; intervals as in `rates`."""
    rows = []
    for row, part in rates(run).groupby("row", sort=False):
        two = part.set_index("column").loc[[MYTH, NFP]]
        least, most = (
            stats.balanced_accuracy(*two[[end, "n"]].to_numpy().ravel().tolist())
            for end in ("least", "most")
        )
        value, n = two["value"].mean(), two["n"].sum()
        rows.append((row, "balanced accuracy", value, 100 * least.low, 100 * most.high, n))
    return pd.DataFrame(rows, columns=["row", "column", "value", "low", "high", "n"])


def readings(run):
    """Readings of the claims on mitigations, {id: readings}: the summary's text and its Table 1."""
    cell = run.published("v2 Table 1").set_index(["row", "column"])["value"]
    change = {
        name: {
            cure: cell[after, name] - cell[before, name] for cure, (before, after) in CURES.items()
        }
        for name in SETS
    }
    return {
        **_on_changes(change),
        "cm-gepa-drop-range": _on_drops(run, cell),
        **_on_over_correction(run, cell),
        "cm-agents-exams": _on_agents(run, cell),
        **_on_pairs(cell),
    }


def _on_changes(change):
    """What each mitigation does to each set, in points; rounding is off by one point at most."""
    told = {name: in_words(by, "+.0f") for name, by in change.items()}
    exams = [*change[MEDQA].values(), *change[PUBMEDQA].values()]
    on_exams = f"MedQA {told[MEDQA]}; PubMedQA {told[PUBMEDQA]}"
    up, down = min(change[MYTH].values()), max(change[NFP].values())
    return {
        "cm-cures-correct": reading(told[MYTH], up - 2 * HALF > 0),
        "cm-cures-over-correct": reading(told[NFP], down + 2 * HALF < 0),
        "cm-cures-exams": reading(on_exams, max(exams) + 2 * HALF < 0),
    }


def _on_drops(run, cell):
    """What GEPA costs on the two exams: the extremes, or each drop, in percent or in points."""
    said = run.published("v2 text results").set_index(["row", "column"])["value"]
    least, most = said["Drop on other benchmarks with GEPA"][["least", "most"]]
    drops = {
        model: [
            _drop(cell[CURES[model][0], exam], cell[CURES[model][1], exam]) for exam in SETS[2:]
        ]
        for model in ("GPT-4o", "Gemini-2.5-Pro")
    }
    both, gemini = [*drops["GPT-4o"], *drops["Gemini-2.5-Pro"]], drops["Gemini-2.5-Pro"]
    lost = [drop.points for drop in both]
    made = {}
    for name, mine in {"Gemini-2.5-Pro": gemini, "both models": both}.items():
        least_share, most_share = (pick(mine, key=lambda drop: drop.share) for pick in (min, max))
        told = f"{least_share.share:.1f} to {most_share.share:.1f}%"
        ends = least_share.low, most_share.high
        extremes = every(
            between(drop.low, drop.high, bound - HALF, bound + HALF)
            for drop, bound in ((least_share, least), (most_share, most))
        )
        inside = every(between(d.low, d.high, least - HALF, most + HALF) for d in mine)
        made[f"extremes of {name}, %"] = outcome(told, extremes, *ends)
        made[f"each drop of {name}, %"] = outcome(told, inside, *ends)
    low, high = min(lost) - 2 * HALF, max(lost) + 2 * HALF
    within = near(lost, 2 * HALF, least - HALF, most + HALF)
    told = f"{min(lost):.0f} to {max(lost):.0f} points"
    return made | reading(told, within, low, high, name="each drop of both models, points")


class Drop(NamedTuple):
    """The cost of a mitigation: points, and percent of the plain accuracy, with its rounding."""

    points: float
    share: float
    low: float
    high: float


def _drop(plain, cured):
    """A `Drop` of two printed percentages."""

    def share(before, after):
        return 100 * (1 - after / before)

    least, most = share(plain - HALF, cured + HALF), share(plain + HALF, cured - HALF)
    return Drop(plain - cured, share(plain, cured), least, most)


def _on_over_correction(run, cell):
    """The over-correction that the text gives: as the fall of a rate, and as 100 minus the rate."""
    said = run.published("v2 text results").set_index(["row", "column"])["value"]
    plain, cured = (cell[row, NFP] for row in CURES["Gemini-2.5-Pro"])
    fall, share, told = plain - cured, 100 - cured, said["Gemini-2.5-Pro with GEPA"]
    bound = told["over-correction"]
    monitor, over = said["Monitor misidentifies", "percent"], 100 - cell[CURES["MDAgents"][1], NFP]
    return {
        "cm-gepa-over-28": {
            "the fall between its two printed rates": outcome(
                f"from {plain:.0f} to {cured:.0f}% is {fall:.0f} points",
                fall == bound,
                fall - 2 * HALF,
                fall + 2 * HALF,
            ),
            "the share of the questions": outcome(
                f"{share:.0f}%",
                near(share, HALF, bound - HALF, bound + HALF),
                share - HALF,
                share + HALF,
            ),
        },
        "cm-monitor-65": reading(f"{over:.0f}%", near(over, HALF, monitor - HALF, monitor + HALF)),
    }


def _on_agents(run, cell):
    """Agents on exam questions, and on false presuppositions by either printed rate."""
    alone, team = cell["GPT-4o Plain"], cell["GPT-4o with MDAgents Plain"]
    exams = [f"{exam} {team[exam]:.0f} against {alone[exam]:.0f}" for exam in SETS[2:]]
    better = all(team[exam] > alone[exam] for exam in SETS[2:])
    rate = implied.rates(run, 2)
    made = {}
    for name, x, y in (
        ("rates of Table 1", team[MYTH], alone[MYTH]),
        ("rates of its text", rate["MDAgents (GPT-4o)"], rate["GPT-4o"]),
    ):
        told = "; ".join([*exams, f"Cancer-Myth {x:g} against {y:g}"])
        made[name] = outcome(told, better and x < y)
    return made


def _on_pairs(cell):
    """Correction and over-correction in one number: does it rise, and where does it start?"""
    one = {row: (cell[row, MYTH] + cell[row, NFP]) / 2 for pair in CURES.values() for row in pair}
    moved = [f"{cure} {one[a]:.1f} to {one[b]:.1f}" for cure, (a, b) in CURES.items()]
    gained = [one[b] - HALF > one[a] + HALF for a, b in CURES.values()]
    plain = [cell["GPT-4o Plain", name] for name in (MYTH, NFP)]
    told = f"{plain[0]:.0f} + {plain[1]:.0f} = {sum(plain):.0f}"
    return {
        "cm-cures-balance": reading("; ".join(moved), every(gained)),
        "cm-gpt4o-coin": reading(told, sum(plain) == 100),
    }
