"""Cancer-Myth, section 3: what the released data say on the claims about how the set was made."""

import re

import numpy as np
import pandas as pd

from bedside import stats
from bedside.read.checks import complete, counterparts, merged, normal, shared, spellings
from bedside.read.claims import between, every, reading

from .data import CATEGORIES, DROPPED, taken_out
from .generation import balance

CLAIMS = """
cm-myths cm-myths-unique cm-cancer-types
cm-start cm-manual cm-per-myth cm-entire-myths cm-partial-run
cm-first-76 cm-balanced cm-even cm-algorithm
cm-subset cm-nfp-source cm-exclude cm-distinct cm-gaps
cm-review-even cm-dropped
""".split()
EDGE = 0.01  # ours: a run over all myths begins and ends within this share of their number


def kept(candidates, released):
    """Which candidates were kept (booleans): released word for word or nearly (`counterparts`)."""
    found = counterparts(candidates["question"], released["question"])
    return candidates["question"].map(normal).isin(found.values())


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


def readings(run, raw, start, checked):
    """Readings of CLAIMS, {id: readings}, from the released data and `checks.report`.

    raw: `data.released`; if it is empty, so are all readings. start: `data.starting_examples`.
    """
    if not raw:
        return dict.fromkeys(CLAIMS, {})
    counts = run.published("v1 text 3", "v1 text 4.1", "v1 text B.1", "v1 text B.4")
    said = {(r.row, r.column): int(r.value) for r in counts.itertuples()}
    offered = complete(raw["candidates"], ["category", "generator", "myth"])  # none falls out
    hit = kept(offered, raw["released"])
    found = {
        **_on_myths(said, raw["myths"]),
        **_on_start(said, raw, start),
        **_on_runs(said, offered, hit),
        **balancing(run, offered),
        **_on_sets(raw, checked),
        **_on_review(offered, hit),
    }
    return {id: found[id] for id in CLAIMS}


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


def _on_myths(said, myths):
    """Section 3.1: how many myths there are, and for how many cancers."""
    made, n = {}, len(myths)
    for name, columns in {
        "entries with all their fields": ["cancer", "myth", "fact", "source"],
        "cancer and myth": ["cancer", "myth"],
        "myth and fact": ["myth", "fact"],
        "the myth's text": ["myth"],
    }.items():
        texts = myths[columns].map(normal).agg(" | ".join, axis=1)
        made |= reading(f"{texts.nunique()} of {n}", texts.is_unique, name=name)
    counts = sorted(_types(myths["cancer"]))
    low, high = counts[0], counts[-1]
    listed = said["cancer types", "count"]
    return {
        "cm-myths": reading(f"{n}", n == said["myths", "count"]),
        "cm-myths-unique": made,
        "cm-cancer-types": reading(
            f"{low} to {high} by how names are counted",
            between(low, high, listed, listed),
            low,
            high,
            name="names in the file of myths",
        ),
    }


def _types(names):
    """Numbers of cancer types, by several ways to tell two names apart, the strictest first."""
    names = list(dict.fromkeys(names))
    kind = re.compile(r".*\(([^()]*(?:Cancer|Lymphoma|Sarcoma))\)$")
    ways = (
        str,
        lambda name: frozenset(normal(name).split()),
        lambda name: normal(kind.sub(r"\1", name)),  # by the wider type in brackets
    )
    return [*(len({way(name) for name in names}) for way in ways), merged(names)]


def _on_start(said, raw, start):
    """Sections 3.2 and 4.1, appendix B.1: what the generators started from."""
    size = start["kind"].value_counts()
    valid = start.loc[start["kind"] == "valid", "question"]
    offered, released = (len(shared(valid, raw[k]["question"])) for k in ("candidates", "released"))
    return {
        "cm-start": reading(
            f"{size['valid']} valid, {size['invalid']} invalid",
            (size["valid"], size["invalid"])
            == (said["positive examples", "count"], said["negative examples", "count"]),
        ),
        "cm-manual": reading(
            f"{offered} of {len(valid)} stand among the candidates, {released} are released",
            offered == len(valid) == said["candidates", "manual"],
        ),
    }


def _on_runs(said, offered, hit):
    """Section 3.2, appendix B.4: which myths each generator's questions rest on."""
    made = offered[offered["myth"] > 0]
    first, rest = offered[offered["first"]], made[~made["first"]]
    reach = made.groupby("generator")["myth"].agg(["min", "max"])
    ends = ", ".join(f"{r.Index} {r.min} to {r.max}" for r in reach.itertuples())
    myths = said["myths", "count"]
    early = made.loc[made["first"], "myth"]
    later = rest.loc[rest["generator"] == "GPT-4o", "myth"]
    most = made.groupby(["generator", "myth"]).size().max()
    return {
        "cm-per-myth": reading(f"{most}", most <= said["questions per myth", "count"]),
        "cm-entire-myths": reading(
            f"myths {ends} of {myths}",
            reach["min"].max() <= EDGE * myths and reach["max"].min() >= (1 - EDGE) * myths,
        ),
        "cm-partial-run": reading(
            f"at first {early.min()} to {early.max()}, later {later.min()} to {later.max()}",
            later.min() > early.max(),
        ),
        "cm-first-76": reading(
            f"{len(first)}, of which {hit[first.index].sum()} are released",
            len(first) == said["valid at first", "count"],
        ),
    }


def balancing(run, offered):
    """Section 4.1, appendix B.3: what the physicians were given; how even its categories are.

    What `by_algorithm` says is left out: it needs the generated questions.
    """
    counts = run.published("v1 text 4.1", "v1 text B.4")
    said = {(r.row, r.column): int(r.value) for r in counts.itertuples()}
    first, rest = offered[offered["first"]], offered[~offered["first"]]
    gone = said["generated at first", "count"] - said["valid at first", "count"]
    parts = rest["generator"].value_counts()
    total = len(offered) + gone
    a_category = parts / len(CATEGORIES)
    same = parts.nunique() == 1 and (a_category % 1 == 0).all()
    return {
        "cm-balanced": reading(
            f"{len(first)} + {' + '.join(map(str, parts))} + {gone} taken out before = {total}",
            total == said["balanced", "all"],
            name="the file and what the first review took out",
        ),
        "cm-algorithm": reading(
            f"{', '.join(map(str, parts))} = {len(CATEGORIES)} x {a_category.iloc[0]:g}",
            same,
            name="a fixed number a generator",
        ),
        "cm-even": _evenness(first, rest, offered),
    }


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


def by_algorithm(made, chosen, offered):
    """Appendix B.3: readings of what Algorithm 1 gives, {id: readings}; made, chosen: `selected`.

    Its first step takes a fixed number of each category of a generator, and all of a smaller one.
    Open if a question has no known generator or category, or a candidate wasn't generated.
    """
    by, rest = ["generator", "category"], offered[~offered["first"]]
    _, fixed = _numbers(rest)
    taken = made[made["question"].map(normal).isin(set(rest["question"].map(normal)))]
    cells = pd.MultiIndex.from_product([rest["generator"].unique(), CATEGORIES.values()], names=by)
    sizes, begun, given = (
        part.groupby(by).size().reindex(cells, fill_value=0) for part in (made, taken, chosen)
    )
    first, full = begun >= sizes.clip(upper=fixed), given >= fixed
    whole = made[by].notna().all(axis=None) and len(taken) == len(rest)  # else nothing is sure
    return {
        "cm-algorithm": reading(
            f"{first.sum()} of {len(cells)} have {fixed}, or all that were generated",
            first.all() if whole else None,
            name="a fixed number a category first",
        ),
        "cm-even": reading(
            f"{full.sum()} of {len(cells)} have {fixed} ({given.min()} to {given.max()})",
            full.all() if whole else None,
            name="what Algorithm 1 gives",
        ),
    }


def _evenness(first, rest, offered):
    """Are the categories even? All readings but that of Algorithm 1, which `by_algorithm` has."""
    counts = offered["category"].value_counts()
    by = {  # a category without a question counts 0
        generator: part["category"].value_counts().reindex(CATEGORIES.values(), fill_value=0)
        for generator, part in rest.groupby("generator")
    }
    apart = dict(zip(by, stats.holm([stats.even(part) for part in by.values()])))
    told = "; ".join(f"{g} {c.min()} to {c.max()} (p = {apart[g]:.1g})" for g, c in by.items())
    largest, before = counts.max() / len(offered), first["category"].value_counts(normalize=True)
    after = by["GPT-4o"] / by["GPT-4o"].sum()
    p = stats.even(counts)
    return (
        reading(
            f"the largest has {100 * largest:.0f}%, an even share is {100 / len(CATEGORIES):.0f}%",
            largest <= 2 / len(CATEGORIES),
            name="no category dominates",
        )
        | reading(
            f"GPT-4o's largest has {100 * after.max():.0f}%, before {100 * before.max():.0f}%",
            after.max() < before.max(),
            name="evener than the first set, which was not balanced",
        )
        | reading(
            f"{counts.min()} to {counts.max()} of {len(offered)} (p = {p:.1g})",
            p > 0.05,
            name="equal shares of all",
        )
        | reading(told, min(apart.values()) > 0.05, name="equal shares within each generator")
    )


def _on_sets(raw, checked):
    """What the released sets share with the candidates and each other; repeated and empty texts."""
    offered, released = raw["candidates"]["question"], raw["released"]["question"]
    plain = raw["nfp"]["example_question"]
    exact, from_offered = len(shared(released, offered)), len(shared(offered, plain))
    near = len(counterparts(offered, released))
    both = len(shared(released, plain))
    mine = ["cancer_myth_candidates", "cancer_myth_released", "cancer_myth_nfp"]
    total = checked[checked["row"].isin(mine)].groupby("column")["value"].sum()
    twice, gaps = int(total["repeated texts"]), int(total["empty cells"])
    return {
        "cm-subset": reading(
            f"{near} of {len(released)}, {near - exact} of them reworded", near == len(released)
        ),
        "cm-nfp-source": reading(f"{from_offered}", from_offered == len(plain)),
        "cm-exclude": reading(f"{both} of {len(plain)} stands in both", not both),
        "cm-distinct": reading(f"{twice}", not twice),
        "cm-gaps": reading(f"{gaps}", not gaps),
    }


def _on_review(offered, hit):
    """Does the review keep a smaller share of one generator's questions (without the first set)?"""
    rest = offered[~offered["first"]]
    share = hit[rest.index].groupby(rest["generator"]).mean().sort_values(ascending=False)
    p = _independent(rest["generator"], hit[rest.index])
    told = ", ".join(f"{g} {100 * k:.0f}%" for g, k in share.items())
    lowest = share.index[-1] == "Gemini-1.5-Pro"
    shown = hit[offered["item"].isin(DROPPED)]
    gone = len(shown) == len(DROPPED) and not shown.any()
    return {
        "cm-review-even": reading(f"{told} (p = {p:.1g})", every([lowest, p < 0.05])),
        "cm-dropped": reading(f"{shown.sum()} of {len(shown)} released", gone),
    }


def _independent(group, hit):
    """p of a chi-squared test of equal shares of `hit` in all groups."""
    import pandas as pd
    from scipy.stats import chi2_contingency

    return chi2_contingency(pd.crosstab(group, hit)).pvalue
