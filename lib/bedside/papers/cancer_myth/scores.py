"""What answers count: PCS and PCR (section 4.2), rates corrected for the judge's errors, pairs."""

from collections.abc import Sequence

import pandas as pd

from bedside import stats
from bedside.judging import trust_cards
from bedside.read.checks import scored
from bedside.read.questions import FROM
from bedside.run import Run
from bedside.write import results
from bedside.write.tables import Row, frame

MEASURES = {"PCS": "PCS", "PCR": "PCR"}
CORRECTED = "corrected for the judge's errors"


def counted(graded: pd.DataFrame) -> pd.DataFrame:
    """The answers with what each counts: PCS, its grade, and PCR, whether it is 1; or missing."""
    grade = scored(graded)["value"].astype(float).reindex(graded.index)
    return graded.assign(PCS=grade, PCR=grade.eq(1).astype("boolean").mask(grade.isna()))


def scores(graded: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """PCS (-1 to 1) and PCR (percent) by model and `by`: rows as of `results.means`, over myths."""
    column = ", ".join(["{metric}", *(f"{{{key}}}" for key in by)])
    return means(counted(graded), column=column)


def means(points: pd.DataFrame, row: str = "{model}", column: str = "{metric}") -> pd.DataFrame:
    """`results.means` of the columns PCS and PCR, or of those of them that are there."""
    measures = {name: name for name in MEASURES if name in points}
    found = results.means(points, measures, row, column, scale=(-1, 1))
    return found.fillna({"unscored": 0})


def corrected(
    rates: pd.DataFrame, run: Run, *stream: str, judge: str = "", task: str = ""
) -> pd.DataFrame:
    """Rates in percent, corrected for the errors of the run's judge, or another, on its trust card.

    rates: rows of `results.means`. stream: the fixed id of the random numbers. See
    `trust_cards.corrected` (Rogan and Gladen 1978).
    """
    card, rows = run.card(judge, task), []
    for r in rates.itertuples():
        rate = r.value, r.low, r.high, r.n
        i = trust_cards.corrected(rate, card, run.rng(*stream))
        rows.append(Row(r.row, f"{r.column} {CORRECTED}", "run", *i, r.unscored))
    return frame(rows)


def replies(answers: pd.DataFrame, row: str) -> pd.DataFrame:
    """Rows of how answers came: words, shares that were truncated or hold no answer, and why.

    answers: as of `study.answers`, with the keys of the label. Whether answers made elsewhere were
    truncated isn't known here.
    """
    came, why = answers["reply_status"] == "", answers["reply_status"].str.split(":").str[0]
    whys = {f"no answer: {w}, %": why == w for w in why[~came].unique()}
    looks = answers.assign(**{"no answer, %": ~came}, **whys)
    looks["mean words"] = looks["answer"].str.split().str.len()
    cut, elsewhere = looks["truncated"].astype("boolean"), looks["model"].str.fullmatch(FROM)
    looks["cut off at the limit, %"] = cut.mask(elsewhere)
    parts = (
        (looks[came], ["mean words", "cut off at the limit, %"]),
        (looks, ["no answer, %", *whys]),
    )
    made = pd.concat([results.means(part, dict(zip(of, of)), row) for part, of in parts])
    return made.dropna(subset="value").assign(unscored=None)


def uncut(graded: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """The answers that weren't truncated, of the groups in which some were."""
    cut = graded["truncated"].astype(bool)
    return graded[cut.groupby([graded[k] for k in by]).transform("any") & ~cut]


HOLM = {"": "", "_holm": ", Holm"}


def pairs(found: pd.DataFrame, rate: str = "PCR", source: str = "run") -> pd.DataFrame:
    """Rows of `tables.paired`: differences of PCR (or another rate) in points, and p.

    Of PCR, which has grades behind it, also p of PCS. Holm corrects over all p of the table.
    """
    p = {"p": f"{rate} p", **({"permutation": "PCS p"} if rate == "PCR" else {})}
    fixed = stats.holm(found[list(p)].to_numpy(float).ravel()).reshape(-1, len(p))
    found = found.assign(**{f"{k}_holm": c for k, c in zip(p, fixed.T)})
    names = {"difference": f"{rate} difference, points"}
    names |= {k + part: label + words for k, label in p.items() for part, words in HOLM.items()}
    names["detectable"] = f"detectable {rate} difference, points"
    rows = frame(
        Row(r["row"], label, source, r[name], n=r["n"])
        for r in found.to_dict("records")
        for name, label in names.items()
    )
    told = rows["value"].notna() | (rows["n"] == 0)  # no difference is detectable in a few items
    return rows[told].reset_index(drop=True)
