"""MedDialBench: how consultations end."""

from bedside.read.checks import complete, numbers
from bedside.write import tables
from bedside.write.tables import Row, frame

from ..consultations import ENDS
from ..dialogues import ENDED
from . import by_doctor

CUT, UNCUT = "a reply was cut at its limit", "right diagnoses where none was"


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
