"""Cancer-Myth, section 4.3: what the numbers of Figures 5b, 6 and 7 say on the claims about PCS."""

from math import inf

import pandas as pd

from bedside import stats
from bedside.claims import between, every, reading

from . import printed
from .printed import HALF, QUESTIONS

GEMINI, CLAUDE, GPT = "Gemini-1.5-Pro", "Claude-3.5-Sonnet", "GPT-4o"
POOR = ["No Treatment", "Inevitable Side Effect"]  # where all models are said to do poorly
LATE = ["Causal Misattribution", "Underestimated Risk", "No Symptom, No Disease"]
APART = ["GPT-3.5", "MDAgents (GPT-4o)"]  # excepted where scores are said to be similar
ABOVE = 1e-9  # the least of what is above 0


def readings(run):
    """Readings of the claims that rest on Figures 5b, 6 and 7, {id: readings}."""
    shares = run.published("v1 Figure 5b").set_index("row")["value"]
    counts = {row: stats.grim_counts(share, QUESTIONS, 1) for row, share in shares.items()}
    total = [sum(end(c, default=0) for c in counts.values()) for end in (min, max)]
    told = ", ".join(f"{row} {' or '.join(map(str, found))}" for row, found in counts.items())
    odd = [model for model, found in printed.grades(run).items() if not found]
    clear = printed.sums(run).notna().all(axis=None) or None
    return {
        "cm-sources": reading(told, between(*total, QUESTIONS, QUESTIONS), *total),
        "cm-v1-pairs": reading(", ".join(odd) or "all possible", every([not odd, clear])),
        **_on_models(run),
        **_on_generators(run),
        **_on_categories(run),
    }


def _lowest(frame, rows, half=0.0):
    """Whether these rows are below all others, by column: {column: True, False or None}.

    half: what rounding may have added to a value or taken from it. A missing value leaves it open.
    """
    apart = frame.drop(rows).min(skipna=False) - frame.loc[rows].max(skipna=False)
    return {c: between(x - 2 * half, x + 2 * half, least=ABOVE) for c, x in apart.items()}


def _each(found, name):
    """The reading that something holds in each column: {column: True, False or None}."""
    but = ", ".join(column for column, holds in found.items() if holds is not True)
    told = f"{sum(h is True for h in found.values())} of {len(found)}" + f", not {but}" * bool(but)
    return reading(told, every(found.values()), name=name)


def _one(values, rows, name, half=0.0):
    """The reading that these rows are below the others in one series; the lowest are told."""
    told = ", ".join(f"{row} {v:.2f}" for row, v in values.nsmallest(len(rows)).items())
    return reading(told, *_lowest(values.to_frame(), rows, half).values(), name=name)


def _on_models(run):
    """Figure 6a: PCS by model."""
    pcs = run.published("v1 Figure 6a").query("column == 'PCS'").set_index("row")["value"]
    second = pcs.drop(GEMINI).idxmax()
    told = f"{pcs[GEMINI]:.2f}, {second} {pcs[second]:.2f}"
    p = printed.possible_pcs_p(run, GEMINI, second)[1]
    first = _lowest(-pcs.to_frame(), [GEMINI], HALF)["value"]
    return {
        "cm-best-pcs": reading(told, first, name="the printed scores")
        | reading(
            f"p of at most {p[1]:.1g}", every([first, between(*p, most=0.05)]), *p, name="unpaired"
        )
    }


def _on_generators(run):
    """Figure 6b: PCS by the questions' generator (rows) and the model that answers (columns)."""
    wide = printed.cross_model(run).pivot(index="row", columns="column", values="value")
    own = [[m == by for m in wide] for by in wide.index]
    rest = wide.drop(columns=GPT)
    less = _lowest(-rest, [GPT], HALF).values()
    nearest = rest.abs().stack().idxmin() == (GPT, GEMINI)
    gain = rest.loc[GPT] - rest.drop(GPT).mean()
    more = gain[GEMINI] - gain[CLAUDE]
    lowest = _lowest(wide.mask(own, inf).drop(columns=GEMINI), [GEMINI], HALF)
    return {
        "cm-hardest": _each(_lowest(wide, [GEMINI], HALF), "each model, all questions")
        | _each(lowest, "each model, questions by others")
        | _one(wide.mean(axis=1), [GEMINI], "mean of the models", HALF),
        "cm-asymmetry": reading(
            ", ".join(f"{m} {value:.2f}" for m, value in rest.loc[GPT].items()),
            every([*less, nearest]),
            name="the scores",
        )
        | reading(
            ", ".join(f"{m} {value:+.2f}" for m, value in gain.items()),
            every([*less, between(more - 4 * HALF, more + 4 * HALF, least=ABOVE)]),
            name="the gain over other questions",
        ),
    }


def _on_categories(run):
    """Figure 7: PCS by category and model, from the sums of grades that its bars allow."""
    total = printed.sums(run)
    others = total.drop(columns=GEMINI).mean(axis=1, skipna=False)
    pcs = total.div(printed.category_sizes(run), axis=0)
    own = total.sum(skipna=False).to_frame("all").T / QUESTIONS
    six = pcs.drop(columns=APART)
    mean, of_six = (part.mean(axis=1, skipna=False) for part in (pcs, six))
    spread = six.max(axis=1, skipna=False) - six.min(axis=1, skipna=False)
    gap = six.min(axis=1, skipna=False) - pcs[APART].max(axis=1, skipna=False)
    lead = pcs[GEMINI] - pcs.drop(columns=GEMINI).max(axis=1, skipna=False)
    worst = POOR[1:]
    return {
        "cm-poor-categories": _each(
            {m: between(x, x, most=-ABOVE) for m, x in pcs.loc[POOR].max(skipna=False).items()},
            "below 0",
        )
        | _each(_lowest(pd.concat([pcs.loc[POOR], own]), POOR), "below the model's own PCS")
        | _each(_lowest(pcs, POOR), "the two lowest of each model")
        | _one(mean, POOR, "the two lowest of the models' mean"),
        "cm-worst-side-effect": _each(_lowest(pcs, worst), "each model")
        | _one(mean, worst, "mean of the eight systems")
        | _one(of_six, worst, "mean without GPT-3.5 and MDAgents"),
        "cm-similar-on-both": _one(spread, POOR, "spread of the six")
        | reading(
            ", ".join(f"{row} {gap[row]:.2f} lower" for row in POOR),
            every(between(x, x, least=ABOVE) for x in (gap - spread)[POOR]),
            name="distance of the other two",
        ),
        "cm-gemini-late": _share(total, total[CLAUDE], "lead over the next model")
        | _share(total, others, "lead over the others' mean")
        | reading(
            ", ".join(f"{row} {x:+.2f}" for row, x in lead.items()),
            *_lowest(-lead.drop("Others").to_frame("lead"), LATE).values(),
            name="lead over the next model in each category",
        ),
    }


def _share(total, others, name):
    """The reading that most of Gemini-1.5-Pro's lead, in sums of grades, is from LATE."""
    lead = total[GEMINI] - others
    late, whole = lead[LATE].sum(skipna=False), lead.sum(skipna=False)
    holds = every(between(x, x, least=ABOVE) for x in (whole, late - whole / 2))
    return reading(f"{late:.0f} of {whole:.0f} points", holds, name=name)
