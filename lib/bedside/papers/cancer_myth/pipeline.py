"""Cancer-Myth, section 3: what the released data say on the claims about how the set was made."""

import re

import numpy as np
import pandas as pd

from bedside.read.checks import (
    complete,
    counterparts,
    merged,
    normal,
    report,
    shared,
)
from bedside.read.sources import here
from bedside.stats.rounded import Comparison, Rounded
from bedside.write.results import means, points

from . import data
from .data import CATEGORIES, taken_out
from .generation import balance

NOTEBOOK = "02_adversarial_generation"  # decides claims on the released data


def kept(candidates, released):
    """Which candidates were kept (booleans): released word for word or nearly (`counterparts`)."""
    found = counterparts(candidates["question"], released["question"])
    return candidates["question"].map(normal).isin(found.values())


FOOLED = "questions that fooled a model"
SENT = "given to the physicians"
BEFORE = "taken out in the review before"  # of the questions generated at first
PLAIN = "without a false presupposition"
STAGES = {"candidates": FOOLED, "balanced": SENT, "released": "released"}  # of v1 text 4.1
KEPT = {"keep": "kept", "none": "no false presupposition", "unsound": "unsound"}  # or not


def reviewed(run, raw, tried):
    """The candidates of the review (3.3) for `Run.keep`, with what became of them as `label`.

    raw: `data.released`; without it ours that a review takes out. tried: as `generation.kept`; its
    questions that fooled their author come last, without a label.
    """
    if raw:
        found = raw["candidates"].rename(columns={"generator": "model"})
        label = np.where(kept(found, raw["released"]), "kept", "taken out")
        about = {"unit": found["myth"].astype(str), "labelled_by": "physicians", "by": "model"}
    else:
        found = taken_out(run).assign(model="Bedside's authors")
        label = found["label"].replace(KEPT)
        about = {"unit": found["item"], "labelled_by": "their authors", "by": "written"}
    fooled = tried[(tried["value"] == -1) & (tried["judge"] == run.judge)]
    fooled = fooled.assign(sent=fooled["sent"].str.split().str[0], by="model", truncated=False)
    judged = ["status", "value", "judge", "right", "raw", "call", "reply_status"]
    fooled = fooled.drop(columns=judged, errors="ignore")
    every = [found.assign(label=label, **about), fooled.assign(label="", labelled_by="")]
    # either kind lacks texts that the other has, such as a reason
    made = pd.concat(every, ignore_index=True).fillna("")
    return made.assign(configuration="candidate", reply=made["correction"])


def shares(questions, stage, source):
    """Rows of the share of each category among questions, over myths."""
    unit = questions["myth" if "myth" in questions else "unit"]
    hits = {name: questions["category"] == name for name in CATEGORIES.values()}
    frame = pd.DataFrame({**hits, "item": questions["item"], "unit": unit})
    return means(frame, {name: name for name in hits}, "{metric}", stage, source=source)


def counts(raw):
    """Rows of counts along the pipeline, if there are released data."""
    if not raw:
        return []
    myths = raw["myths"]
    found = {
        ("myths", "all"): len(myths),
        ("myths", "different texts"): myths["myth"].map(normal).nunique(),
        ("cancer types", "all"): myths["cancer"].nunique(),
        ("cancer types", "spellings merged"): merged(myths["cancer"]),
    }
    for stage, name in ((SENT, "candidates"), (STAGES["released"], "released"), (PLAIN, "nfp")):
        found[stage, "all"] = len(raw[name])
        for what in raw[name].columns.intersection(["generator", "category"]):
            found |= {(stage, label): n for label, n in raw[name][what].value_counts().items()}
    return [points(found, "raw")]


def reviews(run, raw):
    """Rows of the percent of candidates that the user's raters kept, and the physicians.

    Of all, by category and, of the physicians', by generator. Intervals are over myths.
    """
    parts, rows = [], ("all", "{generator}", "{category}")
    if here("cancer_myth_reviewed"):
        labels = run.load("cancer_myth_reviewed").assign(kept=lambda f: f["label"] == "keep")
        parts += [means(labels, {"kept": "kept by your raters, %"}, row) for row in rows[::2]]
    if raw:
        found = raw["candidates"].assign(unit=raw["candidates"]["myth"])
        found["kept"] = kept(found, raw["released"])
        by = {"kept": "kept by the physicians, %"}
        parts += [means(found, by, row, source="raw") for row in rows]
    return parts


# ---- what tests of claims use (`claims.names`)


RELEASED = """
myths different_myths types starting starting_offered early_last later_first
offered first by_generator parts kept_share p_kept
dropped_kept near plain_offered in_both repeated empty
""".split()


def names(run):
    """Quantities of the released data, or None; what `by_algorithm` gives is not among them."""
    raw = data.released(run)
    if not raw:
        return dict.fromkeys(RELEASED)
    myths, start = raw["myths"], data.starting_examples(run)
    types = _types(myths["cancer"])
    offered = complete(raw["candidates"], ["category", "generator", "myth"])  # none falls out
    asked, released, plain = (
        offered["question"],
        raw["released"]["question"],
        raw["nfp"]["example_question"],
    )
    # where the myths of GPT-4o's first questions end and its later ones begin (appendix B.4)
    made = offered[offered["myth"] > 0]
    later = made[~made["first"] & (made["generator"] == "GPT-4o")]
    # the first set was not balanced (appendix B.3)
    hit, rest = kept(offered, raw["released"]), offered[~offered["first"]]
    parts = offered["category"].value_counts(normalize=True)
    sources = ["cancer_myth_candidates", "cancer_myth_released", "cancer_myth_nfp"]
    faults = report(dict(zip(sources, run.load(*sources)))).groupby("column")["value"].sum()
    return {
        "myths": len(myths),
        "different_myths": len(
            myths[["cancer", "myth", "fact", "source"]].map(normal).drop_duplicates()
        ),
        "types": Rounded(min(types), max(types), max(types)),
        "starting": start["kind"].value_counts(),
        "starting_offered": len(shared(start.loc[start["kind"] == "valid", "question"], asked)),
        "early_last": made.loc[made["first"], "myth"].max(),
        "later_first": later["myth"].min(),
        "offered": len(offered),
        "first": len(offered) - len(rest),
        "by_generator": rest["generator"].value_counts(),
        "parts": parts.reindex(CATEGORIES.values(), fill_value=0),
        "kept_share": hit[rest.index].groupby(rest["generator"]).mean(),
        "p_kept": _independent(rest["generator"], hit[rest.index]),
        "dropped_kept": hit[offered["item"].isin(data.DROPPED)],
        "near": len(counterparts(asked, released)),
        "plain_offered": len(shared(asked, plain)),
        "in_both": len(shared(released, plain)),
        "repeated": int(faults["repeated texts"]),
        "empty": int(faults["empty cells"]),
    }


def _types(names):
    """Numbers of cancer types (section 3.1), by several ways to tell two names apart."""
    names = list(dict.fromkeys(names))
    kind = re.compile(r".*\(([^()]*(?:Cancer|Lymphoma|Sarcoma))\)$")
    ways = (
        str,
        lambda name: frozenset(normal(name).split()),
        lambda name: normal(kind.sub(r"\1", name)),  # by the wider type in brackets
    )
    return [*(len({way(name) for name in names}) for way in ways), merged(names)]


def _independent(group, hit):
    """p of a chi-squared test of equal shares of `hit` in all groups."""
    from scipy.stats import chi2_contingency

    return chi2_contingency(pd.crosstab(group, hit)).pvalue


# ---- Algorithm 1


def selected(generated, offered, rng):
    """Algorithm 1 on the generated questions: (those it was run on, those that it selects).

    generated: `systems.generated`. offered: `data.candidates`, whose first set was not balanced
    (B.4); its questions and those by hand are left out. The numbers for each generator and each of
    its categories are the file's.
    """
    first = set(offered.loc[offered["first"], "question"].map(normal))
    text = generated["question"].map(normal)
    made = generated[~text.isin(first) & ~text.duplicated() & (generated["generator"] != "Manual")]
    per_model, per_category = _numbers(offered[~offered["first"]])
    known = made.dropna(subset=["generator", "category"])
    return made, balance(known, per_model, per_category, rng)


def _numbers(rest):
    """Questions of a generator, and of each of its categories, in what was balanced."""
    per_model = int(rest["generator"].value_counts().max())
    return per_model, per_model // len(CATEGORIES)


def by_algorithm(made, offered):
    """Appendix B.3: a comparison by generator and category; made: of `selected`.

    As Algorithm 1's first step does, the candidates have a fixed number of the category, or all of
    a smaller one. Open if a question has no known generator or category, or a candidate wasn't
    generated.
    """
    by, rest = ["generator", "category"], offered[~offered["first"]]
    _, fixed = _numbers(rest)
    taken = made[made["question"].map(normal).isin(set(rest["question"].map(normal)))]
    cells = pd.MultiIndex.from_product([rest["generator"].unique(), CATEGORIES.values()], names=by)
    sizes, begun = (part.groupby(by).size().reindex(cells, fill_value=0) for part in (made, taken))
    whole = made[by].notna().all(axis=None) and len(taken) == len(rest)  # else nothing is sure
    hit = begun >= sizes.clip(upper=fixed)
    return Comparison(hit & whole, hit | (not whole))
