"""Radiation: the set-up that notebooks, explorer and seminar share: inputs, lists and scores.

patients, reference, terms = study.inputs(run)
lists = await study.listed(run, patients, ["free-form"], 1000)
graded = await study.graded(run, lists, reference, terms)
"""

import pandas as pd

from bedside import choose
from bedside.checks import joined
from bedside.models import answers_of

from . import data, matching, scores
from .lists import read_all

SITE, VOCABULARY = SHOWN = "site", "vocabulary"


def inputs(run, whole=False):
    """(patients, reference, vocabulary) of a run, see `data`; whole: all patients despite LIMIT."""
    return data.profiles(run, whole), data.reference(run), data.vocabulary(run)


def setting(run):
    """A sentence for captions: which patients and which reference this run's numbers rest on."""
    if run.profile == "public":
        return "Inputs of this run: the released patients and reference."
    return "Inputs of this run: invented patients and an illustrative reference, not the paper's."


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
        mine = scores.belonging(reference, terms).items()
        sees = {site: [t for t, belongs in zip(terms, them) if belongs] for site, them in mine}
    return scores.scored(await matching.matched(run, lists, judge, sees), reference, terms)
