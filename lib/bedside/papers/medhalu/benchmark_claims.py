"""MedHalu: what the tests of claims on the benchmark, types and an expert's reason may use."""

import functools
import itertools
from typing import Any

import pandas as pd

from bedside import stats
from bedside.run import Run
from bedside.stats.rounded import Rounded, Verdict, prints

from .data import DATASETS, copy_of_medhalu, liveqa_train, printed_sets, words
from .implied import matrices
from .implied.numbers import (
    LLMS,
    PEOPLE,
    PROPRIETARY,
    SIX,
    TEN,
    by_row,
    classes,
    grid,
    long,
    sample_share,
    sampled,
    scores_of,
    share_error,
    shares,
    text,
)
from .implied.rates import behind, p_ends, printed_rates

PERSONAL = r"\S+@\w+\.\w+|\(?\b\d{3}\)?[-. ]\d{3}[-. ]\d{4}\b"  # mail, telephone
PROMPTS = ("text 2.1", "appendix A.2", "Table 5", "Table 9")


def names(run: Run) -> dict[str, Any]:
    """Quantities of sections 2, 4.2, 5 and A; None is what this run's profile doesn't have."""
    three, items = text(run, "Table 3"), copy_of_medhalu(run)
    of_matrices = (fitting, sample_fits, mean_of_three, left_out, types_agree, accepted_by_matrix)
    return {
        "background": three.groupby(three.index.str.split(":").str[0]).sum(),
        "asked": text(run, "askers of 2.2") == 1,
        "pairs": grid(run, "text 2.2")["pairs"],
        **_prompts(run),
        "different": grid(run, "appendix A").nunique(),
        "scores_by_type": [*long(run, "Table 8")["metric"].unique()],
        "said_distances": _said_distances(run),
        "reasoned": grid(run, "text 5"),
        "hallucinated_sampled": _sampled(run),
        "marked": None if items is None else items.query("type != 'none'")["spans"].map(len) > 0,
        **_questions(run),
        **{
            f.__name__: functools.cache(functools.partial(f, run))
            for f in (*of_matrices, p_gain, least_p)
        },
        "accepted": functools.partial(accepted, run),
        **FUNCTIONS,
    }


def _prompts(run):
    """Which things definitions of an input-conflict name, and prompts show, by place."""
    rows = run.published(*PROMPTS)
    there = rows[rows["value"] == 1].assign(at=rows["table"].str.split().str[-1])
    found = pd.crosstab(there["column"], [there["row"], there["at"]]) > 0
    return {"named": found["input-conflicting"], "shown": found["slots"]}


def _said_distances(run):
    """Section 4.1: mean edit distances, models by base sets."""
    end = " mean edit distance"
    said = grid(run, "text 4.1").loc[PROPRIETARY, [d + end for d in DATASETS]]
    return said.rename(columns=lambda c: c.removesuffix(end))


def _sampled(run):
    """Shares of hallucinated answers in a sample, give or take two standard errors."""
    share = pd.Series({d: p / (p + n) for d, (p, n) in classes(run).items()})
    off = pd.Series({d: share_error(run, d) for d in share.index})
    return Rounded(share - off, share, share + off)


def _questions(run):
    """{base set: its questions as section 2.2 has them, or None}."""
    found = printed_sets(run) if run.profile == "public" else {}
    if liveqa_train(run) is None:
        found.pop("LiveQA", None)  # its test set isn't the paper's
    return {d.lower(): found[d][0] if d in found else None for d in DATASETS}


# ---- counts behind printed scores; table: 6 or 10


def fitting(run: Run, table: int) -> pd.DataFrame:
    """`matrices.implied` by evaluator and base set; anyhow: whether another share of hallucinated
    answers fits.
    """
    found = matrices.implied(run, f"Table {table}").set_index(["row", "dataset"])
    return found.assign(anyhow=found["anyhow"] <= matrices.FITS)


def _each(run, table, who, fits):
    rows = by_row(run, f"Table {table}").items()
    return pd.Series({key: fits(key[1], scores) for key, scores in rows if key[0] in who})


def sample_fits(run: Run) -> pd.Series:
    """How many matrices over a sample of 500 have scores that print as a row of Table 10."""
    fits = matrices.confusions
    return _each(run, 10, LLMS, lambda d, scores: len(fits(*sampled(run, d), scores)[0]))


def mean_of_three(run: Run, table: int) -> pd.Series:
    """Is a row of people in Table 6, or of Table 10, the mean of three matrices over the sample?"""
    fits, who = matrices.mean_of_three, PEOPLE if table == 6 else LLMS
    return _each(run, table, who, lambda d, scores: fits(*sampled(run, d), scores))


def left_out(run: Run) -> pd.Series:
    """The fewest replies that a row of Table 6 must lack to be one matrix; NaN if over 2%."""
    fewest = matrices.with_some_left_out
    return _each(run, 6, LLMS, lambda d, scores: fewest(*classes(run)[d], scores)).astype(float)


def types_agree(run: Run) -> pd.DataFrame:
    """`matrices.types_agree` by model and base set."""
    return matrices.types_agree(run).set_index(["row", "dataset"])


def accepted(run: Run, table: int, sampled: Any = PEOPLE) -> Rounded:
    """The share of HealthQA's other answers that is accepted; sampled: as of `behind`."""
    found = behind(run, f"Table {table}", sampled)
    return _ends(found[found["dataset"] == "HealthQA"].set_index("row"))


def accepted_by_matrix(run: Run, table: int) -> Rounded:
    """The same where rows of both tables can be one matrix each, of GPT-3.5 and GPT-4."""
    both = [fitting(run, n).xs("HealthQA", level=1).loc[PROPRIETARY] for n in (6, 10)]
    there = (both[0]["fits"] > 0) & (both[1]["fits"] > 0)
    return _ends(both[table == 10][there])


def _ends(found):
    return Rounded(*(found[f"specificity{end}"] for end in (" least", "", " most")))


# ---- p of the gain by a reason, for any overlap of right answers


def p_gain(run: Run, score: str) -> Rounded:
    """The p of each model's gain, weighted by pairs: of all of them, or of a sample."""
    ends = {m: _p_ends(run, m, score, shares(run)) for m in LLMS}
    low, high = (pd.Series({m: p[k] for m, p in ends.items()}) for k in (0, 1))
    return Rounded(low, high, high)


def _p_ends(run, model, score, weights):
    known, both = printed_rates(run), ((TEN, model), (SIX, model))
    sizes = 1, sample_share(run)
    p = [p_ends(known, *both, score, weights, (k, k), ("best", "worst")) for k in sizes]
    return min(low for low, _ in p), max(high for _, high in p)


def least_p(run: Run, score: str) -> Rounded:
    """What p each model's gain can have in each base set: from the least on.

    Of accuracy that of an exact McNemar test in which no right answer became wrong.
    """
    least = {}
    for m, d in itertools.product(LLMS, DATASETS):
        if score != "Acc":
            least[m, d] = _p_ends(run, m, score, {d: 1})[0]
            continue
        before, after = (
            stats.grim_counts(100 * scores_of(run, t)["Acc"].at[m, d], sum(classes(run)[d]), 0)
            for t in (SIX, TEN)
        )
        least[m, d] = stats.mcnemar_counts(max(after[-1] - before[0], 0), 0)
    low = pd.Series(least)
    return Rounded(low, low, low * 0 + 1)


# ---- functions that tests call


def as_printed(x: Rounded, said: float, digits: int) -> Verdict:
    """Whether a number that follows from printed ones is what is said, and what it may be."""
    holds = bool(prints(x.value, said, digits).sure)
    return Verdict(holds, f"{x.value:z.{digits}f}", float(x.low), float(x.high))


def alike(*counts: pd.Series) -> float:
    """The p of a chi-squared test of independence."""
    from scipy.stats import chi2_contingency

    return float(chi2_contingency(counts).pvalue)


def holm(p: Any) -> Any:
    """Holm's correction of p."""
    if not isinstance(p, Rounded):
        return stats.holm(p)
    return p.map(lambda s: pd.Series(stats.holm(s), s.index))


def may_be(kappa: Rounded, most: Rounded) -> Verdict:
    """Whether a kappa may be as printed where none is above another number: open, or a no."""
    high = float(most.high)
    return Verdict(None if high >= kappa.low else False, f"at most {high:.3g}", high=high)


def most_kappa(accuracy: Rounded) -> Rounded:
    """The largest kappa at an accuracy, which is at most 1."""
    return accuracy.map(lambda a: float(stats.most_kappa(min(a, 1))))


def by_type(table: Rounded, model: str) -> Rounded:
    """Macro-F1 of Table 8: a model's types by base sets."""
    return table.map(lambda t: t.xs("F1", axis=1, level=1).loc[model].unstack())


def over_sets(table: Rounded) -> Rounded:
    """Means over the base sets, evaluators by score."""
    return table.map(lambda t: t.T.groupby(level=0).mean().T)


def as_said(table: Rounded, said: pd.DataFrame) -> Rounded:
    """Macro-F1, models by base sets, where the text has other numbers as there."""
    half, value = table.high - table.value, table.value.copy()
    for column in said.columns.intersection([f"{m} ma-F1" for m in value.index]):
        value.loc[column.removesuffix(" ma-F1")] = said[column]
    return Rounded(value - half, value, value + half)


FUNCTIONS = {
    "count": len,
    "words": words,
    "deviation": pd.Series.std,
    "personal": lambda texts: texts.str.contains(PERSONAL),
    "even": stats.even,
} | {
    f.__name__: f
    for f in (as_printed, alike, holm, may_be, most_kappa, by_type, over_sets, as_said)
}
