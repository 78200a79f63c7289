"""MedDialBench: readings of the claims on design and validation (sections 3, A to C)."""

from bedside import stats
from bedside.read.claims import between, outcome, reading, same

from . import DRAWN, MODELS, N, limits, wide

KINDS = ("Baseline", "Single-dimension", "Dual-dimension")  # of configurations, by active levels


def of_works(run):
    """Readings of the claim on other works (Table 1): {id: readings}."""
    full = (wide(run, "Table 1") == 1).all(axis=1)  # N/A, like a part, is no yes
    told = f"{full.sum()} of {len(full)}: {', '.join(full.index[full])}"
    return {"md-only-work": reading(told, list(full.index[full]) == ["MedDialBench"])}


def of_design(run, paper):
    """Readings of the claims on the paper's design, whatever the run's design: {id: readings}."""
    count = {k: len(paper.configurations(k)) for k in ("", "paper", "extreme", "adverse")}
    extreme = [set(v) <= set(paper.extreme) for v in paper.combinations.values()]
    pairs = [count[k] - count[""] for k in ("extreme", "adverse")]
    told = f"{sum(extreme)} of {len(extreme)}; {pairs[0]} and {pairs[1]} pairs"
    dialogues = N * count["paper"] * len(MODELS)
    return {
        "md-design": same(run, "md-design", count["paper"], 0),
        "md-dialogues": same(run, "md-dialogues", dialogues, 0),
        "md-kept": same(run, "md-kept", 100 * N / DRAWN, 1),
        "md-extreme": reading(told, all(extreme)),
        "md-excluded": {},
        "md-key-items": {},
    }


def of_adherence(run, paper):
    """Readings of the claims on the patient's adherence (appendix C): {id: readings}."""
    seven, found = wide(run, "Table 7"), {}
    for name, row in seven.drop(index="Baseline").iterrows():
        fits = stats.grim_counts(row["Full Pass"], int(row["N"]), 1)
        told = ", ".join(f"{k} of {row['N']:.0f}" for k in fits) or "none"
        short = name.split("-")[0].lower().replace(" ", "-")
        found[f"md-adherence-{short}"] = reading(told, bool(fits))
    text = run.published("text C").set_index("row")["value"]
    drawn = [int(seven.at[k, "N"]) for k in KINDS]
    return {
        **found,
        "md-adherence-mean": _mean_score(run, text, drawn),
        "md-adherence-strata": _strata(paper, drawn),
        "md-isolation": _isolation(text),
    }


def _mean_score(run, text, drawn):
    """The mean activation score, by what may be a dialogue's score."""
    failed, half = text["single-dimension failures"], text["dual-dimension partial executions"]
    active, behaviours = sum(drawn[1:]), drawn[1] + 2 * drawn[2]
    full = active - failed - half
    score = {
        "activated behaviours shown, by dialogue": (full + half / 2) / active,
        "activated behaviours shown, pooled": (behaviours - failed - half) / behaviours,
    }
    made = {}
    for name, v in score.items():
        made |= same(run, "md-adherence-mean", 100 * v, 1, name)
    return made


def _strata(paper, drawn):
    """How many configurations, and cells of configuration and model, the sample can cover."""
    active = [len(levels) for levels in paper.configurations().values()]
    rooms = [active.count(k) for k in range(len(KINDS))]
    made, least = {}, sum(n > 0 for n in drawn)
    for name, what, times in (
        ("a dialogue for each configuration, and for each model", "configurations", 1),
        ("a dialogue for each configuration with each model", "cells", len(MODELS)),
    ):
        of = times * sum(rooms)
        most = sum(min(n, times * k) for n, k in zip(drawn, rooms))
        told = f"at most {most} of {of} {what} looked at"
        made[name] = outcome(told, between(least, most, least=of), least, most)
    return made


def _isolation(text):
    """Whether behaviour that was not activated can appear."""
    checked = int(text["dialogues checked"])
    broken = round(checked * (1 - text["isolation compliance"] / 100))
    low, high = limits(broken, checked)
    told = f"{broken} of {checked}; 95% interval up to {high:.1f}%"
    return {
        "the dialogues checked": outcome(told, broken == 0),
        "all dialogues of this patient": outcome(told, between(low, high, most=0), low, high),
    }


def of_judges(run):
    """Readings of the claims on the choice of a judge (appendix B): {id: readings}."""
    text = run.published("text B").set_index("row")["value"]
    of = text["selected dialogues per judge"]
    misled = text["selected dialogues, incorrect and misled"]
    six = wide(run, "Table 6")
    wrong, missed = (stats.drop_noise(n * (1 - six["Misled Acc"] / 100)) for n in (of, misled))
    false = text["Gemini 3 Pro, false positives"], text["Gemini 3 Pro, false negatives"]
    names = f"share of the {of:.0f} dialogues", f"share of the {misled:.0f} misled that are found"
    gemini, gpt = "Gemini 3 Pro", "GPT-5.1"

    def found(judge):
        return f"{misled - missed[judge]:.0f} of {misled:.0f} found"

    perfect = (six["Correct Acc"] == 100).sum()
    least = limits(of, of)[0]
    told = f"{perfect} of {len(six)} at 100%; {of:.0f} of {of:.0f} leave {least:.0f}% possible"
    again = six["Reps"] > 1
    said = run.published("text 3.5").set_index("row").at["human-annotated pilot dialogues", "value"]
    return {
        "md-judge-pilot": {
            name: outcome(f"{text[k]:.0f}", text[k] == said)
            for name, k in (
                ("dialogues that each candidate judged", "selected dialogues per judge"),
                ("dialogues that people annotated", "pilot dialogues"),
            )
        },
        "md-judge-reps": reading(f"{again.sum()} of {len(again)}", again.all()),
        "md-judge-gemini": {
            names[0]: outcome(f"{wrong[gemini]:.0f} errors", round(wrong[gemini]) == sum(false)),
            names[1]: outcome(found(gemini), round(missed[gemini]) == false[1]),
        },
        "md-judge-gpt": {
            names[0]: outcome(
                f"{wrong[gpt]:.0f} errors; at most {misled:.0f} can be missed", wrong[gpt] <= misled
            ),
            names[1]: outcome(found(gpt), 0 < round(missed[gpt]) < misled),
        },
        "md-judges-correct": reading(told, perfect == len(six)),
        "md-kappa": {},
    }


def of_patient(run):
    """Readings of the claims on the choice of a patient (appendix A): {id: readings}."""
    text = run.published("text 3.2").set_index(["row", "column"])
    chosen = text.at[("chosen patient agent", "checkpoints"), "value"]
    others = text.loc[("other candidates", "checkpoints"), ["low", "high"]].tolist()
    five = wide(run, "Table 5")["adherence"].sort_values(ascending=False)
    best, second, least = five.iloc[0], five.iloc[1], five.min()
    scores = run.published("text A").set_index("row")
    opus, rest = scores.at["Opus, mean adherence", "value"], "best smaller models, mean adherence"
    told = f"{opus} against {scores.at[rest, 'low']}-{scores.at[rest, 'high']}"
    ahead = opus > scores.at[rest, "high"]
    mean, worst = (
        scores.loc[k, ["low", "high"]] for k in (rest, "smaller models, incoherent and fabricating")
    )
    of, half = scores.at["follow-up configurations", "value"], 0.005
    left = (of * (mean["low"] - half) - 2 * (worst["high"] + half)) / (of - 2)
    return {
        "md-smaller-worst": reading(
            f"the other {of - 2:.0f} configurations have {left:.2f} or more on average",
            left > worst["high"] + half,
        ),
        "md-checkpoints": reading(
            f"{best:.0f}; {least:.0f}-{second:.0f}", [best, least, second] == [chosen, *others]
        ),
        "md-smaller": reading(told, ahead, name="mean scores as printed"),
    }
