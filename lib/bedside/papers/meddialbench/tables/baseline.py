"""MedDialBench: tables of the baseline (section 4.1) and of how consultations end."""

from bedside.asking.dialogues import ENDED
from bedside.read.checks import complete, numbers
from bedside.write import tables
from bedside.write.tables import Row, estimated_means, frame, published_rows, with_bounds

from .. import scores
from ..consultations import ENDS
from ..design import BASELINE
from ..implied import DRAWN, N, regression, share
from . import by_doctor, stack, unscored

CUT, UNCUT = "a reply was cut at its limit", "right diagnoses where none was"


def baseline_table(run, done):
    """Table 2: accuracy in percent, turns, coverage, and coverage per turn (also recomputed)."""
    table = run.published("Table 2")
    two = table.pivot(index="row", columns="column", values="value").loc[table["row"].unique()]
    ratio = two["Coverage"] / two["Turns"]
    rows = published_rows(table) + [Row(m, "Cov/Turn", "recomputed", v) for m, v in ratio.items()]
    mine = complete(done, ["configuration", "case"]).query("configuration == @BASELINE")
    found = scores.accuracy(mine).assign(row=lambda f: f["model"], column="Acc", source="run")
    names = {"coverage": "Coverage", "per_turn": "Cov/Turn"}
    means = mine.assign(item=mine["case"]).rename(columns={"turns": "Turns", **names})
    other = estimated_means(means, ["Turns", "Coverage", "Cov/Turn"], ["model"], run)
    other = other.rename(columns={"model": "row", "metric": "column"}).assign(source="run")
    return stack(frame(rows), with_bounds(found), other)


def end_table(run, done):
    """How consultations ended, in percent by doctor and end, and which speaker broke off.

    Also why a speaker's reply was no answer, why complete consultations have no diagnosis, how many
    consultations had a reply cut, and the share of right diagnoses among the others. Intervals are
    over cases. done: `judging.outcomes`.
    """
    done = complete(done, ["end", "truncated"], ["by", "why", "reply_status"])
    done, rows = numbers(done, ["correct"]), []
    for model, mine in by_doctor(run, done):
        for end, what in ENDS.items():
            for by in ("",) if end in ENDED else ("doctor", "patient"):
                if (hits := (mine["end"] == end) & (mine["by"] == by)).any():
                    name = f"{by}: {what}" if by else what
                    rows.append(Row(name, model, "run", *tables.share(hits, mine["case"])))
        undiagnosed = mine["reply_status"].where(mine["end"].isin(ENDED), "")
        for what, why in {"no answer": mine["why"], "no diagnosis": undiagnosed}.items():
            why = why.str.split(":").str[0]
            for reason in sorted(set(why) - {""}):
                hits = tables.share(why == reason, mine["case"])
                rows.append(Row(f"{what}: {reason}", model, "run", *hits))
        rows.append(Row(CUT, model, "run", *tables.share(mine["truncated"] > 0, mine["case"])))
        scored = mine[mine["truncated"] == 0].dropna(subset=["correct"])
        if len(scored):
            hits = tables.share(scored["correct"] == 1, scored["case"])
            rows.append(Row(UNCUT, model, "run", *hits))
    return frame(rows)


def selection_table(run, done):
    """Selection of cases by baseline success: the share kept, the accuracy expected on them."""
    kept, accuracy = N / DRAWN, share(run).loc[BASELINE].mean() / 100
    said = run.published("text 3.3").set_index(["row", "column"])["value"]
    able = numbers(complete(done, ["case"]), ["correct"]).groupby("case")["correct"].max()
    cases, mean = "kept cases, %", "mean accuracy on them, %"
    new = 100 * regression(kept, accuracy)
    return frame(
        [
            Row(cases, "cases", "published", said["kept cases", "percent"], n=DRAWN),
            Row(cases, "cases", "recomputed", 100 * kept, n=DRAWN),
            Row(mean, "reported", "recomputed", 100 * accuracy, n=N),
            Row(mean, "expected in new dialogues", "recomputed", new, n=N),
            Row(cases, "cases", "run", 100 * able.mean(), n=able.count(), unscored=unscored(able)),
        ]
    )
