"""MedDialBench: tables of design and validation (section 3, appendices A to C): configurations, judges, patients, costs."""

from bedside import judges, models, stats
from bedside.papers.meddialbench import printed
from bedside.papers.meddialbench.consultations import END, OPENING
from bedside.papers.meddialbench.data import blocks
from bedside.papers.meddialbench.judging import TASKS, YES_NO
from bedside.tables import COLUMNS, card_rows, interval_rows, percent, printed_rows, table_rows


def configuration_table(design, combinations):
    """Severity of each dimension in each configuration."""
    return table_rows(
        (name, d, "run", design.levels[n]["severity"], None)
        for name, levels in design.configurations(combinations).items()
        for d, n in design.severities(levels).items()
    )


def cards(found, run):
    """{judge: {task: trust card}} from {judge: `measured`}."""
    return {
        name: {
            task: judges.trust_card(
                labels, verdicts, YES_NO, run.rng("card", name, task), positive="yes"
            )
            for task, (labels, verdicts) in by.items()
        }
        for name, by in found.items()
    }


def card_table(made):
    """Trust cards of all judges and tasks as table rows, a constant guesser for each task at the end."""
    import pandas as pd

    shown = {
        "exact": "right, %",
        "sensitivity": "sensitivity, %",
        "specificity": "specificity, %",
        "kappa": "kappa",
    }
    rows = [
        r
        for name, by in made.items()
        for task, card in by.items()
        for r in card_rows(f"{name}, {TASKS[task]}", card, shown)
    ]
    first = next(iter(made.values()))
    rows += [
        (
            f"constant guesser, {TASKS[task]}",
            "right, %",
            "run",
            100 * c["guesser_exact"],
            None,
            None,
            c["n"],
            0,
        )
        for task, c in first.items()
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def patient_table(run, shown):
    """Table 5: adherence of patients to a script with all dimensions at their extreme, percent; shown: `adherence` of this run's pilot."""
    import numpy as np

    wide = run.published("Table 5").pivot(index="row", columns="column", values="value")
    rows = [
        (m, "adherence, %", "published", 100 * r["adherence"] / r["of"], None, None, r["of"])
        for m, r in wide.iterrows()
    ]
    for model, part in shown.groupby("model", sort=False):
        seen = np.array([x for s in part["shown"] for x in s])
        seen = seen[~np.isnan(seen)]
        rows.append((model, "adherence, %", "run", *percent(seen.sum(), len(seen))))
    return interval_rows(rows)


def judge_table(run, found, known):
    """Table 6: shares of right verdicts on whole dialogues, among those scored: is the diagnosis right, and was a wrong one misled?"""
    import numpy as np

    rows = printed_rows(run.published("Table 6"))
    dialogues = (known.diagnosis["kind"] == "dialogue").to_numpy()
    for name, by in found.items():
        for task, column, asked in (("", "Correct Acc", dialogues), ("misled", "Misled Acc", True)):
            labels, verdicts = by[task]
            scored = verdicts[(verdicts["status"] == "graded").to_numpy() & asked]
            rows.append(
                (
                    name,
                    column,
                    "run",
                    *percent(
                        (scored["value"] == np.array(labels)[scored.index]).sum(), len(scored)
                    ),
                )
            )
        rows.append((name, "Reps", "run", 1, None, None, None))
    return interval_rows(rows)


def adherence_table(run, shown):
    """Table 7: activation and isolation by kind of configuration and patient, percent."""
    rows = printed_rows(run.published("Table 7"))
    columns = {"activation": "Activation", "isolation": "Isolation", "full": "Full Pass"}
    for model, mine in shown.groupby("model", sort=False):
        for kind, part in [
            *mine.groupby("kind", sort=False),
            ("All non-baseline", mine[mine["kind"] != "Baseline"]),
        ]:
            for key, column in columns.items():
                got = part[key].dropna()
                if len(got):
                    i = stats.bootstrap(
                        got.to_numpy(),
                        run.rng("adherence", model, kind, key),
                        units=part.loc[got.index, "case"].to_numpy(),
                    )
                    rows.append(
                        (
                            f"{kind}, {model}",
                            column,
                            "run",
                            100 * i.value,
                            100 * i.low,
                            100 * i.high,
                            len(got),
                        )
                    )
    return interval_rows(rows)


def cost_table(run, design, cases, texts, turns, said):
    """Calls, tokens and price of whole studies before any is run: expected values for consultations of `turns` turns of `said` tokens each.

    The prompts are this run's; tokens are a cautious estimate. Prompts grow with the dialogue, so that tokens grow with
    the square of the turns. A price for each model of the registry that has one, as doctor and patient.
    """
    case = next(cases.itertuples())
    sizes = [
        sum(len(m["content"]) for m in messages) / models.CHARS_PER_TOKEN
        for messages in (
            run.prompt("doctor", complaint=case.complaint, mark=END),
            run.prompt(
                "patient",
                case=case._asdict(),
                blocks=blocks(design, texts, case.item, tuple(design.extreme[:2])),
                opening=OPENING,
            ),
        )
    ]
    grown = said * turns * (turns - 1)  # the sum of 2 * said * t over the turns
    prompt = (
        turns * sum(sizes) + 2 * grown + 2 * (sizes[0] + 2 * said * turns)
    )  # the ending and the diagnosis as well
    reply = said * (2 * turns + 1)
    count = {c: len(design.configurations(c)) for c in ("paper", "extreme", "adverse")}
    rows = []
    for name, number in (
        ("the paper's design, a doctor", printed.N * count["paper"]),
        ("the paper's study", 5 * printed.N * count["paper"]),
        (f"all {count['adverse'] - 11} pairs, a doctor", printed.N * count["adverse"]),
    ):
        rows += [
            (name, "consultations", "run", number, None),
            (name, "calls", "run", round(number * (2 * turns + 2)), None),
            (name, "prompt tokens, millions", "run", number * prompt / 1e6, None),
            (name, "reply tokens, millions", "run", number * reply / 1e6, None),
        ]
        rows += [
            (name, f"USD with {m}", "run", models.cost(m, number * prompt, number * reply), None)
            for m, e in models.registry().items()
            if "usd_per_million_in" in e
        ]
    return table_rows(rows)
