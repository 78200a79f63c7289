"""MedDialBench: tables of design and validation (section 3, appendices A to C)."""

import itertools

import numpy as np
import pandas as pd

from bedside import stats
from bedside.asking import registry
from bedside.read.checks import complete, numbers
from bedside.write import tables
from bedside.write.tables import Row, card_rows, frame, published_rows

from ..consultations import END, OPENING, blocks
from ..data import named_facts
from ..judging import KINDS, TASKS, yes
from ..printed import MODELS, N
from ..rules import NAME as RULES
from . import by_doctor, unscored

OPUS, SMALLER, HARD = "Claude Opus 4.5", "two best smaller models", "incoherent and fabricating"
MISLED = "misled, of wrong diagnoses"
CHARS_PER_TOKEN = 3  # for expected tokens; what a plan says at most assumes 1


def related_table(run, design):
    """Table 1: what other works, and this run's design, isolate, grade and combine (0 to 1)."""
    levels = [design.of(d) for d in design.dimensions]
    mine = {
        "dimension isolation": all(
            (n,) in design.configurations().values() for n in design.adverse
        ),
        "graded severity": sum(len(names) > 2 for names in levels) / len(levels),
        "interaction": bool(design.combinations),
    }
    rows = [Row("the design of this run", c, "run", float(v)) for c, v in mine.items()]
    return frame(published_rows(run.published("Table 1")) + rows)


def configuration_table(design, combinations):
    """Severity of each dimension in each configuration."""
    return frame(
        Row(name, d, "run", design.levels[n]["severity"])
        for name, levels in design.configurations(combinations).items()
        for d, n in design.severities(levels).items()
    )


def script_table(design, cases, scripts):
    """By level: how many scripts there are, could be read, and name facts of their case."""
    items, rows = cases.set_index("item")["key_items"].to_dict(), []
    scripts = scripts.assign(named=named_facts(scripts, items))
    for level in design.adverse:
        mine = scripts[scripts["level"] == level]
        counts = {
            "scripts": len(mine),
            "read": (mine["status"] == "graded").sum(),
            "name a fact of their case": mine["named"].map(bool).sum(),
            "false statements": mine["false"].map(len).sum(),
        }
        rows += [Row(level, what, "run", n, n=len(mine)) for what, n in counts.items()]
    return frame(rows)


def card_table(cards):
    """Trust cards ({judge: {task: card}}), followed by a constant guesser for each task."""
    measures = {
        "exact": "right, %",
        "sensitivity": "sensitivity, %",
        "specificity": "specificity, %",
        "kappa": "kappa",
    }
    rows = []
    for name, by in cards.items():
        for task, card in by.items():
            rows += card_rows(f"{name}, {TASKS[task]}", card, measures)
    for task, card in next(iter(cards.values())).items():
        guessed = 100 * card["guesser_exact"]
        name = f"constant guesser, {TASKS[task]}"
        rows.append(Row(name, "right, %", "run", guessed, n=card["n"], unscored=0))
    return frame(rows)


def patient_table(run, shown):
    """Table 5: adherence of patients with all dimensions at their extreme, in percent.

    shown: `judging.adherence` of this run's pilot.
    """
    wide = run.published("Table 5").pivot(index="row", columns="column", values="value")
    rows = [
        Row(m, "adherence, %", "published", 100 * r["adherence"] / r["of"], n=r["of"])
        for m, r in wide.iterrows()
    ]
    for model, part in by_doctor(run, complete(shown, ["shown"])):
        seen = part.explode("shown").astype({"shown": float})
        scored, lost = seen.dropna(subset=["shown"]), unscored(seen["shown"])
        share = tables.share(scored["shown"] == 1, scored["case"])
        rows.append(Row(model, "adherence, %", "run", *share, lost))
    return frame(rows)


def judge_table(run, found, known, again):
    """Table 6: share of right verdicts on whole dialogues, among those scored, in percent.

    The two tasks: whether a diagnosis is correct, and whether a wrong one was misled. found:
    {judge: `judging.measured`}; again: `judging.repeated`.
    """
    rows = published_rows(run.published("Table 6"))
    dialogues = (known.diagnosis["kind"] == "dialogue").to_numpy()
    for name, by in found.items():
        times = 1 + len(again.get(name, ()))
        for task, column, asked in (
            ("", "Correct Acc", dialogues),
            ("misled", "Misled Acc", slice(None)),
        ):
            verdicts = [by[task][1][asked], *(more[task][1] for more in again.get(name, ()))]
            labels = np.tile(np.array(by[task][0])[asked], times)
            cases = np.tile(known.cases(task)[asked], times)
            status, value = (np.concatenate([v[c] for v in verdicts]) for c in ("status", "value"))
            graded = status == "graded"
            hits, *limits, n = tables.share((value == labels)[graded], cases[graded])
            limits = limits if times == 1 else (None, None)  # repetitions are no more dialogues
            rows.append(Row(name, column, "run", hits, *limits, n, int((~graded).sum()) or None))
        rows.append(Row(name, "Reps", "run", times))
    return frame(rows)


def second_table(run, known, found, both):
    """Agreement of two judges (section 3.5, appendix B): shares of equal verdicts, and kappas.

    found: {judge: `judging.measured`}, of whose labelled examples each pair of judges is compared;
    both: {judge: `judging.diagnosed`} of the same consultations, for two judges or none. The
    values of the paper are missing from the text at hand.
    """
    said = run.published("text 3.5").set_index("row").at["dual-judge validation", "value"]
    rows = [Row("Qwen3-Max and Gemini 3 Pro", "dialogues", "published", said)]
    for a, b in itertools.combinations(found, 2):
        for task, what in (("", "diagnosis"), ("misled", MISLED)):
            verdicts = [yes(found[judge][task][1]["value"]).to_numpy() for judge in (a, b)]
            name = f"{a} and {b}, labelled examples"
            rows += _agreement(name, what, *verdicts, known.cases(task))
    for (a, first), (b, second) in itertools.combinations(both.items(), 2):
        columns = ["correct", "misled"]
        first, second = (numbers(complete(f, ["item", "case"]), columns) for f in (first, second))
        name, second = f"{a} and {b}, this run", second.set_index("item").loc[first["item"]]
        rows.append(Row(name, "dialogues", "run", len(first)))
        verdicts = {c: np.array([first[c], second[c]], float) for c in columns}
        cases, wrong = first["case"].to_numpy(), (verdicts["correct"] == 0).all(axis=0)
        rows += _agreement(name, "diagnosis", *verdicts["correct"], cases)
        rows += _agreement(name, "misled or not", *verdicts["misled"], cases)
        rows += _agreement(name, MISLED, *verdicts["misled"][:, wrong], cases[wrong])
    return frame(rows)


def _agreement(row, what, a, b, cases):
    """How often two judges say the same, and kappa; NaN in a or b (n,) is unscored."""
    both = ~np.isnan(a + b)
    a, b, cases, lost = a[both], b[both], cases[both], int((~both).sum()) or None
    kappa = (None, None, None, 0)
    if len(a):
        kappa = stats.kappa(a.tolist(), b.tolist(), [0.0, 1.0], units=cases)
    same = tables.share(a == b, cases)
    return [
        Row(row, f"{what}: same, %", "run", *same, lost),
        Row(row, f"{what}: kappa", "run", *kappa, lost),
    ]


def follow_up_table(run, seen):
    """Appendix A's follow-up: mean adherence (0 to 1) of patients with single behaviours.

    seen: {the model that plays the patient: `judging.adherence`}.
    """
    said = run.published("text A").query("column == 'score'").set_index("row")
    rows = [
        Row(name, column, "published", *said.loc[words, ["value", "low", "high"]])
        for name, column, words in (
            (OPUS, "mean", "Opus, mean adherence"),
            (OPUS, HARD, "Opus, incoherent and fabricating"),
            (SMALLER, "mean", "best smaller models, mean adherence"),
            (SMALLER, HARD, "smaller models, incoherent and fabricating"),
        )
    ]
    every = pd.concat([shown.assign(patient=name) for name, shown in seen.items()])
    every = numbers(complete(every, ["configuration", "model"]), ["activation"])
    ruled = every["model"] == RULES  # who are patients of their own, whichever models are tried
    every.loc[ruled, "patient"] = RULES
    for name, mine in every.drop_duplicates(["item", "patient"]).groupby("patient", sort=False):
        parts = {level: [level] for level in mine["configuration"].unique()}
        parts |= {HARD: HARD.split(" and "), "mean": list(parts)}
        for column, levels in parts.items():
            part = mine[mine["configuration"].isin(levels)]
            if len(part):
                share = _share("activation", part, scale=1)
                rows.append(Row(name, column, "run", *share))
    return frame(rows)


def adherence_table(run, shown):
    """Table 7: activation and isolation by type of configuration and doctor, in percent."""
    rows = published_rows(run.published("Table 7"))
    columns = {"activation": "Activation", "isolation": "Isolation", "full": "Full Pass"}
    shown = numbers(complete(shown, ["kind"]), columns)
    for model, mine in by_doctor(run, shown):
        parts = {kind: mine[mine["kind"] == kind] for kind in KINDS}
        active = mine[mine["kind"] != KINDS[0]]
        for kind, part in [*parts.items(), ("All non-baseline", active)]:
            for key, column in columns.items():
                if key == "activation" and kind == KINDS[0]:
                    continue  # no behaviour is active
                rows.append(Row(f"{kind}, {model}", column, "run", *_share(key, part)))
    return frame(rows)


def _share(key, part, scale=100):
    """Mean of a column (scale 100: in percent), its interval over cases, n, number unscored."""
    got, lost = part[key].dropna(), unscored(part[key])
    if got.empty:
        return None, None, None, 0, lost
    i = stats.mean(got.to_numpy(float), part.loc[got.index, "case"].to_numpy(), scale=(0, 1))
    return scale * i.value, scale * i.low, scale * i.high, len(got), lost


# named, so that an entry which a user adds to data/models.toml changes no committed table
PRICED = ("gpt-6-luna", "claude-opus-4-6")


def cost_table(run, design, cases, scripts, turns, said, models=PRICED):
    """Calls, tokens and price of whole studies, before any of them is run.

    A consultation has `turns` turns, each with two statements of `said` tokens. The prompts are
    this run's; tokens are estimated with caution. Each prompt holds the dialogue so far, so tokens
    grow with the square of the turns. Prices are those of `models`, a cheap and an expensive one
    of data/models.toml, as doctor and patient alike.
    """
    prompt, reply = _tokens(run, design, cases, scripts, turns, said)  # NaN without a case
    calls = 2 * turns + 2  # of a consultation
    each = prompt / calls, reply / calls
    count = {c: len(design.configurations(c)) for c in ("", "paper", "adverse")}
    rows = []
    for name, number in (
        ("the paper's design, a doctor", N * count["paper"]),
        ("the paper's study", len(MODELS) * N * count["paper"]),
        (f"all {count['adverse'] - count['']} pairs, a doctor", N * count["adverse"]),
    ):
        costs = {
            "consultations": number,
            "calls": round(number * calls),
            "prompt tokens, millions": number * prompt / 1e6,
            "reply tokens, millions": number * reply / 1e6,
        }
        for m in models:
            costs[f"USD with {m}"] = registry.cost(m, *each) * calls * number  # NaN without a case
        rows += [Row(name, what, "run", v) for what, v in costs.items()]
    return frame(rows)


def _tokens(run, design, cases, scripts, turns, said):
    """Prompt tokens and reply tokens of one consultation; NaN without a case."""
    if cases.empty:
        return float("nan"), float("nan")
    case = next(cases.itertuples())
    told = blocks(design, scripts, case.item, tuple(design.extreme[:2]))
    openings = (
        run.prompt("doctor", complaint=case.complaint, mark=END),
        run.prompt("patient", case=case._asdict(), blocks=told, opening=OPENING),
    )
    chars = [sum(len(m["content"]) for m in messages) for messages in openings]
    doctor, patient = (n / CHARS_PER_TOKEN for n in chars)
    grown = said * turns * (turns - 1)  # the sum of 2 * said * t over the turns
    last = 2 * (doctor + 2 * said * turns)  # the ending and the diagnosis as well
    return turns * (doctor + patient) + 2 * grown + last, said * (2 * turns + 1)
