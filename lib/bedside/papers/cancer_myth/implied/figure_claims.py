"""Cancer-Myth, section 4.3: what the numbers of Figures 5b, 6 and 7 say on the claims about PCS."""

from math import inf, nan

import pandas as pd

from bedside import stats
from bedside.read.claims import between, every, in_words, near, outcome, reading

from .. import implied
from . import HALF, QUESTIONS

GEMINI, CLAUDE, GPT = "Gemini-1.5-Pro", "Claude-3.5-Sonnet", "GPT-4o"
TURBO, AGENTS = "GPT-4-Turbo", "MDAgents (GPT-4o)"
POOR = ["No Treatment", "Inevitable Side Effect"]  # where all models are said to do poorly
WORST = POOR[1:]  # where they do worst
LATE = ["Causal Misattribution", "Underestimated Risk", "No Symptom, No Disease"]
APART = ["GPT-3.5", AGENTS]  # excepted where scores are said to be similar
ABOVE = 1e-9  # the least of what is above 0


def readings(run):
    """Readings of the claims that rest on Figures 5b, 6 and 7, {id: readings}."""
    shares = run.published("v1 Figure 5b").set_index("row")["value"]
    counts = {row: stats.grim_counts(share, QUESTIONS, 1) for row, share in shares.items()}
    can_be = all(counts.values())  # else no whole number prints as one of the shares
    total = [sum(end(c) for c in counts.values()) if can_be else nan for end in (min, max)]
    told = ", ".join(
        f"{row} {' or '.join(map(str, found)) or 'none'}" for row, found in counts.items()
    )
    kinds, sizes = run.published("v1 introduction"), run.published("v1 Figure 5a")["value"]
    kinds = kinds.set_index(["row", "column"])["value"]["categories", "count"]
    grades = implied.grades(run)
    odd = [model for model, found in grades.items() if not found]
    clear = implied.sums(run).notna().all(axis=None) or None
    return {
        "cm-sources": reading(told, every([can_be, between(*total, QUESTIONS, QUESTIONS)]), *total),
        "cm-categories": reading(
            f"{' + '.join(f'{n:.0f}' for n in sizes)} = {sizes.sum():.0f}",
            len(sizes) == kinds and sizes.sum() == QUESTIONS,
        ),
        "cm-often": _on_failures(grades),
        "cm-v1-pairs": reading(", ".join(odd) or "all possible", every([not odd, clear])),
        **_on_models(run),
        **_on_generators(run),
        **_on_categories(run),
    }


def lowest(frame, rows, half=0.0):
    """Whether these rows are below all others, by column: {column: True, False or None}.

    half: what rounding may have added to a value or taken from it. A missing value leaves it open.
    """
    apart = frame.drop(rows).min(skipna=False) - frame.loc[rows].max(skipna=False)
    return {c: near(x, 2 * half, least=ABOVE) for c, x in apart.items()}


def each(found, name):
    """The reading that something holds in each column: {column: True, False or None}."""
    but = ", ".join(column for column, holds in found.items() if holds is not True)
    told = f"{sum(h is True for h in found.values())} of {len(found)}" + f", not {but}" * bool(but)
    return reading(told, every(found.values()), name=name)


def lowest_of(values, rows, name, half=0.0):
    """The reading that these rows are below the others in one series; the lowest are told."""
    told = in_words(values.nsmallest(len(rows)), ".2f")
    return reading(told, *lowest(values.to_frame(), rows, half).values(), name=name)


def _on_failures(grades):
    """How often systems' answers do not correct, from their possible grades (1, 0, -1)."""
    ways = {model: list(zip(*found)) or [[nan]] * 3 for model, found in grades.items()}
    wrong = {m: (QUESTIONS - max(ones), QUESTIONS - min(ones)) for m, (ones, *_) in ways.items()}
    unaware = {m: (min(minus), max(minus)) for m, (*_, minus) in ways.items()}
    half = QUESTIONS / 2
    low, high = (sum(ends) for ends in zip(*unaware.values()))
    n = QUESTIONS * len(grades)

    def most(counts):
        return {m: between(*ends, least=half + ABOVE) for m, ends in counts.items()}

    return (
        each(most(wrong), "not fully corrected, by each system")
        | reading(
            f"{100 * low / n:.0f}%",
            between(low, high, least=n / 2 + ABOVE),
            name="not recognised, all systems' answers",
        )
        | each(most(unaware), "not recognised, by each system")
    )


def _on_models(run):
    """Figure 6a: PCR and PCS by model."""
    said = run.published("v1 Figure 6a").pivot(index="row", columns="column", values="value")
    pcr, pcs = said["PCR"], said["PCS"]
    best = [GEMINI, CLAUDE, TURBO]
    ranked = in_words(pcr.nlargest(len(best)))
    gaps = [pcr[m] - pcr.drop(best[: i + 1]).max() for i, m in enumerate(best)]
    models = run.published("v1 text 4.2").set_index("row")["value"]["models evaluated"]
    apart = implied.possible_p(run, TURBO, GPT)[0][-1]
    below = {m: near(x, HALF, most=-ABOVE) for m, x in pcs.items()}
    second = pcs.drop(GEMINI).idxmax()
    told = f"{pcs[GEMINI]:.2f}, {second} {pcs[second]:.2f}"
    p = implied.possible_pcs_p(run, GEMINI, second)[1]
    first = lowest(-pcs.to_frame(), [GEMINI], HALF)["PCS"]
    return {
        "cm-best-pcs": {
            "the printed scores": outcome(told, first),
            "unpaired": outcome(
                f"p of at most {p[1]:.1g}", every([first, between(*p, most=0.05)]), *p
            ),
        },
        "cm-order": reading(ranked, min(gaps) > 0),
        "cm-systems": reading(
            f"{len(pcr)} systems in Figure 6a",
            len(pcr) == models + 1 and AGENTS in pcr,
        ),
        "cm-gpt4o-low": {
            "below the median of the systems": outcome(
                f"{pcr[GPT]}%, median {pcr.median():.1f}%", pcr[GPT] < pcr.median()
            ),
            "below GPT-4-Turbo": outcome(
                f"{pcr[GPT]} against {pcr[TURBO]}%, p of at most {apart:.1g}",
                pcr[GPT] < pcr[TURBO] and apart < 0.05,
            ),
        },
        "cm-not-one-model": each(below, "each system, all questions") | _on_others(run),
    }


def _on_others(run):
    """Figure 6b: do questions by one model mislead the others, by a PCS below 0?"""
    cells = implied.cross_model(run)
    cells = cells[cells["row"] != cells["column"]]
    names = cells["column"] + implied.ON + cells["row"]
    below = [near(x, HALF, most=-ABOVE) for x in cells["value"]]
    return each(dict(zip(names, below)), "each generator's questions, other models")


def _on_generators(run):
    """Figure 6b: PCS by the questions' generator (rows) and the model that answers (columns)."""
    wide = implied.cross_model(run).pivot(index="row", columns="column", values="value")
    own = [[m == by for m in wide] for by in wide.index]
    rest = wide.drop(columns=GPT)
    less = lowest(-rest, [GPT], HALF).values()
    nearest = rest.abs().stack().idxmin() == (GPT, GEMINI)
    gain = rest.loc[GPT] - rest.drop(GPT).mean()
    more = gain[GEMINI] - gain[CLAUDE]
    by_others = lowest(wide.mask(own, inf).drop(columns=GEMINI), [GEMINI], HALF)
    robust = lowest(-wide.mask(own, -inf).drop(index=GEMINI).T, [GEMINI], HALF)
    mean = wide.mask(own, 0).sum(skipna=False) / (len(wide) - 1)
    return {
        "cm-hardest": each(lowest(wide, [GEMINI], HALF), "each model, all questions")
        | each(by_others, "each model, questions by others")
        | lowest_of(wide.mean(axis=1), [GEMINI], "mean of the models", HALF),
        "cm-robust": each(robust, "each generator")
        | reading(
            in_words(mean, ".2f"),
            *lowest(-mean.to_frame(), [GEMINI], HALF).values(),
            name="mean of the others' questions",
        ),
        "cm-asymmetry": {
            "the scores": outcome(
                in_words(rest.loc[GPT], ".2f"),
                every([*less, nearest]),
            ),
            "the gain over other questions": outcome(
                in_words(gain, "+.2f"),
                every([*less, near(more, 4 * HALF, least=ABOVE)]),
            ),
        },
    }


def _on_categories(run):
    """Figure 7: PCS by category and model, from the sums of grades that its bars allow."""
    total = implied.sums(run)
    others = total.drop(columns=GEMINI).mean(axis=1, skipna=False)
    pcs = total.div(implied.category_sizes(run), axis=0)
    own = total.sum(skipna=False).to_frame("all").T / QUESTIONS
    six = pcs.drop(columns=APART)
    mean, of_six = (part.mean(axis=1, skipna=False) for part in (pcs, six))
    spread = six.max(axis=1, skipna=False) - six.min(axis=1, skipna=False)
    gap = six.min(axis=1, skipna=False) - pcs[APART].max(axis=1, skipna=False)
    lead = pcs[GEMINI] - pcs.drop(columns=GEMINI).max(axis=1, skipna=False)
    return {
        "cm-poor-categories": each(
            {m: between(x, x, most=-ABOVE) for m, x in pcs.loc[POOR].max(skipna=False).items()},
            "below 0",
        )
        | each(lowest(pd.concat([pcs.loc[POOR], own]), POOR), "below the model's own PCS")
        | each(lowest(pcs, POOR), "the two lowest of each model")
        | lowest_of(mean, POOR, "the two lowest of the models' mean"),
        "cm-room": each(
            {row: between(x, x, most=0.5) for row, x in pcs.loc[LATE, GEMINI].items()},
            "nearer to 0 than to 1",
        ),
        "cm-worst-side-effect": each(lowest(pcs, WORST), "each model")
        | lowest_of(mean, WORST, "mean of the eight systems")
        | lowest_of(of_six, WORST, "mean without GPT-3.5 and MDAgents"),
        "cm-similar-on-both": lowest_of(spread, POOR, "spread of the six")
        | reading(
            ", ".join(f"{row} {gap[row]:.2f} lower" for row in POOR),
            near((gap - spread)[POOR], 0, least=ABOVE),
            name="distance of the other two",
        ),
        "cm-gemini-late": _share(total, total[CLAUDE], "lead over the next model")
        | _share(total, others, "lead over the others' mean")
        | reading(
            in_words(lead, "+.2f"),
            *lowest(-lead.drop("Others").to_frame("lead"), LATE).values(),
            name="lead over the next model in each category",
        ),
    }


def _share(total, others, name):
    """The reading that most of Gemini-1.5-Pro's lead, in sums of grades, is from LATE."""
    lead = total[GEMINI] - others
    late, whole = lead[LATE].sum(skipna=False), lead.sum(skipna=False)
    holds = near([whole, late - whole / 2], 0, least=ABOVE)
    return reading(f"{late:.0f} of {whole:.0f} points", holds, name=name)
