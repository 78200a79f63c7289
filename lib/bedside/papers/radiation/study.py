"""Radiation: the set-up that notebooks, explorer and seminar share: inputs, lists and scores.

patients, reference, terms = study.inputs(run)
lists = await study.listed(run, patients, ["free-form"], 1000)
graded = await study.graded(run, lists, reference, terms)
"""

import numpy as np
import pandas as pd

from bedside import choose
from bedside.asking.models import NOT_RECORDED, answers_of
from bedside.judging.judges import verdicts_by_judge
from bedside.read.checks import joined, normals

from . import data, matching, scores
from .lists import read_all

SITE = "site"
SHOWN = (SITE, "vocabulary")


def inputs(run, whole=False):
    """(patients, reference, vocabulary) of a run, see `data`; whole: all patients despite LIMIT."""
    return data.profiles(run, whole), data.reference(run), data.vocabulary(run)


def asked(run, patients, regimes):
    """The lists to ask for: key, item, site, profile, regime, and the fields of the prompt."""
    terms, rows = data.vocabulary(run), []
    for regime in regimes:
        effects = terms if data.REGIMES[regime]["listed"] else []
        least = data.LEAST if data.REGIMES[regime]["sized"] else 0
        for profile in data.PROFILES:
            for r in patients.itertuples():
                key, record = f"{r.item}/{profile}/{regime}", getattr(r, profile)
                rows.append((key, r.item, r.site, profile, regime, record, effects, least))
    columns = ["key", "item", "site", "profile", "regime", "record", "effects", "least"]
    return pd.DataFrame(rows, columns=columns)


async def listed(run, patients, regimes, max_tokens):
    """The run's models' lists for both profiles of each patient, at temperature 0 (3.4, 4.1).

    Frame item, site, profile, regime, model, answer, reply_status, truncated, and from
    `lists.read_all` status (listed, unparsed, refused or error), terms (a list) and repeated.
    """
    every = asked(run, patients, regimes)
    filled = every.assign(item=every["key"], profile=every["record"])
    prompts = run.prompts_for("list", filled, ["profile", "effects", "least"], most=data.MOST)
    answered = (await answers_of(run, prompts, max_tokens, kind="list")).rename(
        columns={"item": "key"}
    )
    keys = every[["key", "item", "site", "profile", "regime"]]
    every = joined(keys, answered, "key", validate="one_to_many").drop(columns="key")
    return read_all(every)


async def graded(run, lists, reference, terms, judge=None, shown=SITE):
    """Lists matched by the run's matcher or another, with `scores.scored`.

    shown: of SHOWN, what a model as matcher sees: the reference of the site (3.5), or all terms.
    """
    sees = None
    if choose(shown, SHOWN, "shown") == SITE:
        belonging = scores.belonging(reference, terms).items()
        sees = {site: [t for t, own in zip(terms, belongs) if own] for site, belongs in belonging}
    return scores.scored(await matching.matched(run, lists, judge, sees), reference, terms)


RECALLED = ["nothing matched", "less than half matched", "half or more matched"]
LIST = "site regime profile listed size hits precision recall f1 matched".split()  # for `Run.keep`


async def by_each_matcher(run, of_run, patients, reference, terms, shown=SITE):
    """Lists for `Run.keep`: a row for each matcher, the run's (`of_run`, as `graded`) and others.

    A list is right if half or more of its site's reference matched. meant: the number of the term
    that each item is taken for, -1 for none; matched: the same as text, counted from 1. other:
    terms and meant of the patient's other list by the run's matcher. Then the records, and the
    reference of the site.
    """
    belongs = scores.belonging(reference, terms)
    lists = of_run.drop(columns=["match", "pairs", "call", *scores.COUNTED, *scores.METRICS])

    async def matched(asking, judge):
        made = await graded(asking, lists, reference, terms, judge, shown)
        lost = (made["match"] == "error") & (made["status"] == "listed")
        return made.assign(raw=made["answer"].mask(lost, NOT_RECORDED))

    first = of_run.assign(raw=of_run["answer"])
    made = await verdicts_by_judge(run, matched, first, [matching.EXACT])
    meant = [
        matching.one_to_one(r.pairs * belongs[r.site]).tolist() if r.match == "graded" else None
        for r in made.itertuples()
    ]
    level = (made["recall"] > 0).astype(int) + (made["recall"] >= 0.5)
    made = made.drop(columns=["pairs", "found"]).assign(
        configuration=made["regime"] + ", " + made["profile"],
        read=made["status"],
        status=made["match"].where(made["judge"] != "", ""),
        value=[RECALLED[k] for k in level],
        right=level == 2,
        raw=made["raw"].where((made["match"] != "graded") & (made["judge"] != ""), ""),
        meant=meant,
        listed=[len(t) for t in made["terms"]],
        matched=[" ".join(str(i + 1) for i in sorted(m or ()) if i >= 0) for m in meant],
        titled=made["profile"] + " record, " + made["site"],
        vocabulary=[terms] * len(made),
    )
    known = {
        (r.item, r.model, r.regime, r.profile): {"terms": r.terms, "meant": r.meant}
        for r in made[made["judge"] == run.judge].itertuples()
    }
    swapped = made["profile"].map(dict(zip(data.PROFILES, data.PROFILES[::-1])))
    keys = zip(made["item"], made["model"], made["regime"], swapped)
    made["other"] = [known.get(key) for key in keys]  # None where there is none
    named = reference["effect"] + " (" + reference["onset"] + ", " + reference["frequency"] + ")"
    for name, effects in (("effects", reference["effect"]), ("reference", named)):
        made[name] = made["site"].map(effects.groupby(reference["site"]).agg(list))
    records = patients[["item", *data.PROFILES]]
    return joined(made, records, validate="many_to_one", whole="left")


async def pairs_by_each_matcher(run, pairs):
    """Pairs of terms with each matcher's verdict, for `Run.keep`, as `by_each_matcher`."""

    async def matched(asking, judge):
        verdicts = await matching.match_labelled(asking, pairs, judge)
        return joined(pairs.assign(item=pairs["pair"]), verdicts)

    made = await verdicts_by_judge(run, matched, more=[matching.EXACT])
    ours = made["label"].notna()
    return made.assign(
        right=made["value"] == matching.LABELS[1],
        configuration=made["kind"],
        unit=made["reference"],
        model=np.where(ours, "written pair", "lists of the run"),
        by=np.where(ours, "written", "rules"),
        title=made["predicted"] + " | " + made["reference"],
        reply=made["predicted"],
    )


def nearest(lists, terms):
    """Each predicted item of the lists, paired with the term that is nearest in letters."""
    from rapidfuzz import fuzz, process

    items = lists["terms"].explode().dropna()
    items = items.groupby(items.map(normals(items)), sort=False).last()  # of several spellings
    rows = [(t, process.extractOne(t, terms, scorer=fuzz.WRatio)[0]) for t in items]
    made = pd.DataFrame(rows, columns=["predicted", "reference"])
    made["pair"] = [f"pair-{n:04}" for n in range(1, len(made) + 1)]
    return made.assign(kind="this run's lists", why="", label=None)
