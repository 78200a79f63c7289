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
    spellings,
)
from bedside.read.sources import here
from bedside.stats.rounded import Comparison, Rounded
from bedside.write.results import means

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


def labels(raw, start):
    """What labels in the files show: names of one generator, the generator of hand-made questions.

    raw: `data.released`; start: `data.starting_examples`.
    """
    offered = raw["candidates"]
    names = spellings([*offered["spelled"], *raw["nfp"]["from_model"]])
    valid = start.loc[start["kind"] == "valid", "question"].map(normal)
    manual = offered.loc[offered["question"].map(normal).isin(valid), "spelled"]
    return {
        "names of one generator": ["; ".join(group) for group in names],
        "the hand-made questions' generator": manual.tolist(),
    }


def shares(questions, categories, stage, source):
    """Rows of the share of each category among questions, over myths."""
    unit = questions["myth" if "myth" in questions else "unit"]
    hits = {name: questions["category"] == name for name in categories}
    frame = pd.DataFrame({**hits, "item": questions["item"], "unit": unit})
    return means(frame, {name: name for name in hits}, "{metric}", stage, source=source)


def counts(raw):
    """Counts along the pipeline in the released data: {(what, of which): n}."""
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
    return found


def reviews(run, raw):
    """Rows of the percent of candidates that the user's raters kept, and the physicians."""
    parts = []
    if here("cancer_myth_reviewed"):
        labels = run.load("cancer_myth_reviewed").assign(kept=lambda f: f["label"] == "keep")
        parts += _kept_shares(labels, "kept by your raters, %", "run", "category")
    if raw:
        parts += review(raw["candidates"], raw["released"])
    return parts


def review(candidates, released):
    """Rows of the percent of candidates that the physicians kept: of all, by generator, category.

    Intervals are over myths.
    """
    found = candidates.assign(kept=kept(candidates, released), unit=candidates["myth"])
    return _kept_shares(found, "kept by the physicians, %", "raw", "generator", "category")


def _kept_shares(labels, column, source, *by):
    rows = ("all", *(f"{{{key}}}" for key in by))
    return [means(labels, {"kept": column}, row, source=source) for row in rows]


# ---- what tests of claims use (`claims.names`)


def names(run):
    """Quantities of the released data, or None; what `by_algorithm` gives is not among them."""
    raw = data.released(run)
    if not raw:
        return dict.fromkeys(RELEASED)
    offered = complete(raw["candidates"], ["category", "generator", "myth"])  # none falls out
    hit, rest = kept(offered, raw["released"]), offered[~offered["first"]]
    return {
        **_of_myths(raw["myths"]),
        **_of_start(raw, data.starting_examples(run)),
        **_of_runs(offered),
        **_of_categories(offered),
        **_of_sets(run, raw),
        "offered": len(offered),
        "first": len(offered) - len(rest),
        "kept_share": hit[rest.index].groupby(rest["generator"]).mean(),
        "p_kept": _independent(rest["generator"], hit[rest.index]),
        "dropped_kept": hit[offered["item"].isin(data.DROPPED)],
    }


RELEASED = """
myths different_myths types starting starting_offered early_last later_first
offered first by_generator parts kept_share p_kept
dropped_kept near plain_offered in_both repeated empty
""".split()


def _of_myths(myths):
    """Section 3.1: how many myths there are, how many differ, and for how many cancers."""
    fields = myths[["cancer", "myth", "fact", "source"]].map(normal)
    types = _types(myths["cancer"])
    return {
        "myths": len(myths),
        "different_myths": len(fields.drop_duplicates()),
        "types": Rounded(min(types), max(types), max(types)),
    }


def _types(names):
    """Numbers of cancer types, by several ways to tell two names apart."""
    names = list(dict.fromkeys(names))
    kind = re.compile(r".*\(([^()]*(?:Cancer|Lymphoma|Sarcoma))\)$")
    ways = (
        str,
        lambda name: frozenset(normal(name).split()),
        lambda name: normal(kind.sub(r"\1", name)),  # by the wider type in brackets
    )
    return [*(len({way(name) for name in names}) for way in ways), merged(names)]


def _of_start(raw, start):
    """Sections 3.2 and 4.1, appendix B.1: what the generators started from."""
    valid = start.loc[start["kind"] == "valid", "question"]
    return {
        "starting": start["kind"].value_counts(),
        "starting_offered": len(shared(valid, raw["candidates"]["question"])),
    }


def _of_runs(offered):
    """Appendix B.4: where the myths of GPT-4o's first questions end and its later ones begin."""
    made = offered[offered["myth"] > 0]
    later = made[~made["first"] & (made["generator"] == "GPT-4o")]
    return {
        "early_last": made.loc[made["first"], "myth"].max(),
        "later_first": later["myth"].min(),
    }


def _of_categories(offered):
    """Section 4.1, appendix B.3: how even generators and categories are.

    parts: share of the questions by category; by_generator: without the first set, which was not
    balanced.
    """
    a_generator = offered.loc[~offered["first"], "generator"].value_counts()
    parts = offered["category"].value_counts(normalize=True)
    return {
        "by_generator": a_generator,
        "parts": parts.reindex(CATEGORIES.values(), fill_value=0),
    }


def _of_sets(run, raw):
    """What the released sets share with the candidates and each other; repeated and empty texts."""
    offered, released = raw["candidates"]["question"], raw["released"]["question"]
    plain = raw["nfp"]["example_question"]
    mine = ["cancer_myth_candidates", "cancer_myth_released", "cancer_myth_nfp"]
    found = report(dict(zip(mine, run.load(*mine)))).groupby("column")["value"].sum()
    return {
        "near": len(counterparts(offered, released)),
        "plain_offered": len(shared(offered, plain)),
        "in_both": len(shared(released, plain)),
        "repeated": int(found["repeated texts"]),
        "empty": int(found["empty cells"]),
    }


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


def stages(generated, run):
    """Questions before balancing and after: {stage: frame with category and generator}.

    Beside the candidates what Algorithm 1 selects here, with the first set, which it leaves alone.
    """
    after = data.released(run)
    offered = after["candidates"]
    _, chosen = selected(generated, offered, run.rng("Algorithm 1"))
    return {
        "generated": generated,
        "Algorithm 1, here": pd.concat([offered[offered["first"]], chosen]),
        "candidates": offered,
        "released": after["released"],
    }


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
