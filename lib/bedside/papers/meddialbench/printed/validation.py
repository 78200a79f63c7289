"""MedDialBench: what its claims on design and validation come to (sections 3, A to C)."""

from bedside import stats
from bedside.claims import reading, same

from . import DRAWN, MODELS, N, wide


def of_design(run, paper):
    """Readings of the claims on the paper's design, whatever design a run has: {id: readings}."""
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
    failed, half = text["single-dimension failures"], text["dual-dimension partial executions"]
    active = seven.at["All non-baseline", "N"]
    score = 100 * (active - failed - half * 0.5) / active
    found["md-adherence-mean"] = same(run, "md-adherence-mean", score, 1)

    kinds = [len(levels) for levels in paper.configurations().values()]
    every = text["dialogues checked"]
    equal = [round(every * kinds.count(k) / len(kinds)) for k in (0, 1, 2)]
    drawn = [int(seven.at[k, "N"]) for k in ("Baseline", "Single-dimension", "Dual-dimension")]
    told = "{}, {} and {} dialogues; in equal parts {}, {} and {}".format(*drawn, *equal)
    found["md-adherence-strata"] = reading(told, drawn == equal)
    return found


def of_judges(run):
    """Readings of the claims on the choice of a judge (appendix B): {id: readings}."""
    text = run.published("text B").set_index("row")["value"]
    of, misled = (
        text["selected dialogues per judge"],
        text["selected dialogues, incorrect and misled"],
    )
    wrong = of * (1 - wide(run, "Table 6")["Misled Acc"] / 100)
    gemini = text["Gemini 3 Pro, false positives"] + text["Gemini 3 Pro, false negatives"]
    missed = f"{wrong['GPT-5.1']:.0f} errors of {of:.0f}, five at most could be missed"
    return {
        "md-judge-gemini": reading(
            f"{wrong['Gemini 3 Pro']:.0f} errors", round(wrong["Gemini 3 Pro"]) == gemini
        ),
        "md-judge-gpt": reading(missed, wrong["GPT-5.1"] <= misled),
        "md-kappa": {},
    }


def of_patient(run):
    """The reading of the claim on the choice of a patient (appendix A)."""
    text = run.published("text 3.2").set_index(["row", "column"])
    chosen = text.at[("chosen patient agent", "checkpoints"), "value"]
    others = text.loc[("other candidates", "checkpoints"), ["low", "high"]].tolist()
    five = wide(run, "Table 5")["adherence"].sort_values(ascending=False)
    best, second, least = five.iloc[0], five.iloc[1], five.min()
    p = stats.fisher(9, 9, int(second), 9)
    told = f"{best:.0f}; {least:.0f}-{second:.0f}; best against second p = {p:.2f}"
    return reading(told, [best, least, second] == [chosen, *others])
