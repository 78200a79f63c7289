"""Cancer-Myth, section 2 and appendix A: readings of the claims on the physicians' survey."""

import difflib

import pandas as pd

from bedside import stats
from bedside.read import claims, published
from bedside.read.claims import between, every, in_words, outcome, reading, same

from ..survey import (
    HUMAN,
    LABELS,
    RATED,
    SCALE,
    answer_words,
    intraclass,
    label_counts,
    misd,
    paragraphs,
    whole_answers,
)

LEAST_ALPHA = 0.667  # the least for tentative conclusions (Krippendorff 2004)
LEAST_ICC = 0.5  # below it reliability is poor (Koo and Li 2016)
LEAST_AC = 0.6  # above it agreement is substantial (Landis and Koch 1977)
ALIKE = 0.25  # ours: lengths that differ by at most this share are alike
GOOD = 4  # points: above the middle of the scale
TELLING = 0.75  # ours: length shows the source if a guess by it is right more often
EDITED, SITE = "Edited human answer", "answer"  # columns of the released answers
NUMBERED = r"(?m)^\s*\d+\.\s*"
SUMMARY = r"[^:\n]{3,90}:\s+(?=\S)"  # what an edited paragraph begins with, after its number
NAME, LINK = r"CancerCare\b", r"https?://|www\."


def claimed(run):
    """The ids of the survey's claims, in the order of the file."""
    return [id for id in claims.load(run.paper) if id.startswith("cm-survey-")]


def readings(run, ratings, tests, answers):
    """Readings of the survey's claims, {id: readings}.

    ratings: `survey.survey`; tests: `survey.source_tests`; answers: the released ones.
    """
    found = {
        **_on_scores(run, ratings, tests),
        **_on_design(run, ratings),
        **_on_length(run, answers),
        **_on_editing(answers),
        **_on_agreement(run, paragraphs(ratings)),
        **_on_labels(label_counts(ratings), whole_answers(ratings)),
    }
    return {f"cm-survey-{name}": made for name, made in found.items()}


# ---- scores and design (2.1, 2.2, A.1)


def _on_scores(run, ratings, tests):
    """Mean scores of the sources, and whether the models' are higher."""
    whole = whole_answers(ratings)
    mean = whole.stack().groupby("source").mean()
    short = dict(zip(("gpt", "gemini", "llama", "social"), RATED.values()))
    made = {name: same(run, f"cm-survey-{name}", mean[s], 2) for name, s in short.items()}
    models, human = mean.drop(HUMAN), mean[HUMAN]
    each = whole.groupby("source").mean()
    by = each.drop(HUMAN).mean()
    made["llm-average"] = {
        "mean of the three models": outcome(
            f"{models.mean():.2f} against {human:.2f}", models.mean() > human
        ),
        "each of the three models": outcome(
            f"{models.min():.2f} to {models.max():.2f} against {human:.2f}", models.min() > human
        ),
        "by each physician's ratings": outcome(
            ", ".join(f"{by[k]:.2f} against {each.loc[HUMAN, k]:.2f}" for k in by.index),
            (by > each.loc[HUMAN]).all(),
        ),
    }
    return made | {"llm-better": _better(tests), "preferred": _preferred(whole)}


def _preferred(whole):
    """How often do physicians rate a model's answer above the social workers' to one question?"""
    apart = whole.stack().unstack("source")
    apart = apart.drop(columns=HUMAN).sub(apart[HUMAN], axis=0)
    above, clear = (apart > 0).sum(), (apart != 0).sum().sum()
    n, each = apart.size, in_words(above)
    return {
        "all comparisons": outcome(f"{above.sum()} of {n}", above.sum() > n / 2),
        "without ties": outcome(f"{above.sum()} of {clear}", above.sum() > clear / 2),
        "each model": outcome(f"{each} of {len(apart)}", every(above > len(apart) / 2)),
    }


def _better(tests):
    """Does every model score higher than the human answers, by the tests of the table?"""
    mine = tests[tests["row"].str.endswith(f" - {HUMAN}")]
    models = mine["row"].str.removesuffix(f" - {HUMAN}")
    pairs = zip(models, mine["difference"], mine["p_holm"])
    told = "; ".join(f"{model} {by:+.2f} (p = {p:.2g})" for model, by, p in pairs)
    return reading(told, ((mine["difference"] > 0) & (mine["p_holm"] < 0.05)).all())


def _on_design(run, ratings):
    """How many questions, answers, physicians and paragraphs there are."""
    whole = ratings[ratings["part"] == 0]
    size = [whole[k].nunique() for k in ("question", "source", "rater")]
    said = run.published("v1 text 2.1").set_index(["row", "column"])["value"]
    asked = [("questions", "count"), ("answers per question", "count"), ("physicians", "count")]
    complete = whole["rating"].notna()
    told = f"{' x '.join(map(str, size))}; {complete.sum()} ratings of whole answers"
    selected = published.value(run.paper, "v1 text A.1", "selected", "count")
    return {
        "design": reading(
            told,
            size == [said[key] for key in asked]
            and complete.all()
            and len(whole) == size[0] * size[1] * size[2],
        ),
        "selection": reading(
            f"{size[0]} questions rated", size[0] == selected, name="the questions rated"
        ),
        "paragraphs": same(run, "cm-survey-paragraphs", len(paragraphs(ratings)), 0),
    }


# ---- the answers: length and editing (2.1, A.2)


def _on_length(run, answers):
    """Mean words of the social workers' answers, counted in several ways; the models' lengths."""
    said = claims.load(run.paper)["cm-survey-words"].value
    text = answers[EDITED]
    counts = {
        "answers as shown, words between spaces": text.str.split().str.len().mean(),
        "answers as shown, runs of letters": text.str.count(r"[A-Za-z][A-Za-z'’-]*").mean(),
        "answers as they stand on the site": answers[SITE].str.split().str.len().mean(),
    }
    made = {}
    for name, words in counts.items():
        made[name] = outcome(f"{words:.1f}", round(words) == said)
    low, high = sorted(_own_words(answers))
    told, holds = f"{low:.1f} to {high:.1f}", between(low, high, said - 0.5, said + 0.5)
    made["the workers' own words in the answers as shown"] = outcome(told, holds, low, high)
    return {"words": made, "similar-length": {}, "length-blind": _blind(answer_words(answers))}


def _own_words(answers):
    """Mean words of the edited answers that the social workers wrote themselves (A.2), in two ways.

    Words that the unedited answers have in the same order; and all but numbers and summaries.
    """

    def kept(before, after):
        match = difflib.SequenceMatcher(None, before.split(), after.split(), autojunk=False)
        return sum(block.size for block in match.get_matching_blocks())

    shared = pd.Series(map(kept, answers[SITE], answers[EDITED]))
    bare = answers[EDITED].str.replace(f"{NUMBERED}(?:{SUMMARY})?", "", regex=True)
    return shared.mean(), bare.str.split().str.len().mean()


def _blind(words):
    """Could the physicians tell by its length which answer is a model's, of one model at least?"""
    human, models = words[HUMAN], words.drop(columns=HUMAN)
    mean = models.mean() / human.mean() - 1
    near = (models.div(human, axis=0) - 1).abs().le(ALIKE).sum()
    longer, shorter = models.gt(human, axis=0).sum(), models.lt(human, axis=0).sum()
    best = max(longer.max(), shorter.max())  # a guess may take either for the model's

    def told(found, form):
        return ", ".join(f"{model} {value:{form}}" for model, value in found.items())

    n = len(words)
    return {
        "which of two answers is longer": outcome(
            f"longer than the workers': {told(longer, 'd')} of {n}", best > TELLING * n
        ),
        "mean lengths": outcome(told(mean, "+.0%"), mean.abs().max() > ALIKE),
        "question by question": outcome(
            f"within a quarter: {told(near, 'd')} of {n}", near.min() < n / 2
        ),
    }


def _on_editing(answers):
    """What the released edited answers still show of their source; their form."""
    n = len(answers)
    names, links = (
        [answers[column].str.contains(pattern).sum() for column in (EDITED, SITE)]
        for pattern in (NAME, LINK)
    )
    listed, before = (answers[column].str.contains(NUMBERED).sum() for column in (EDITED, SITE))
    parts = answers[EDITED].str.count(NUMBERED).sum()
    headed = answers[EDITED].str.count(NUMBERED + SUMMARY).sum()
    told = f"{listed} of {n} are lists ({before} before); {headed} of {parts} points have a summary"
    return {
        "cues": reading(
            f"CancerCare in {names[0]} of {n} ({names[1]} before), links in {links[0]}"
            f" ({links[1]} before)",
            names[0] + links[0] == 0,
            name="the released edited answers",
        ),
        "lists": {
            "by and large": outcome(told, listed > n / 2 and headed > parts / 2),
            "without exception": outcome(told, listed == n and headed == parts),
        },
    }


# ---- agreement and labels (A.4, 2.2)


def _on_agreement(run, wide):
    """How the MISD is distributed, and how far the agreement goes beyond chance."""
    spread = misd(wide)
    source = spread.index.get_level_values("source")
    groups = {"all": spread, **{k: spread[source == k] for k in RATED.values()}}
    bound = published.value(run.paper, "v1 text A.4", "MISD of 2 or less", "percent")
    two = {k: 100 * (g <= 2).mean() for k, g in groups.items()}
    middle = {k: 100 * g.between(1, 2).mean() for k, g in groups.items()}
    return {
        "misd-2": _pooled_and_each(two, bound),
        "misd-1-2": _pooled_and_each(middle, 50),
        "misd-1": _commonest_spread(run, groups),
        "misd-llm": _closer(spread, source == HUMAN),
        "agree": reading(f"{two['all']:.1f}%", two["all"] > bound, name="A.4's own measure")
        | _beyond_chance(wide),
    }


def _pooled_and_each(share, bound):
    """Is the share of paragraphs above a bound: of all, and of each source?"""
    each = {k: v for k, v in share.items() if k != "all"}
    least, most = min(each.values()), max(each.values())
    return {
        "all paragraphs": outcome(f"{share['all']:.1f}%", share["all"] > bound),
        "each source": outcome(f"{least:.1f} to {most:.1f}%", least > bound),
    }


def _commonest_spread(run, groups):
    """Is the printed MISD, and no other, the most frequent?"""
    said = published.value(run.paper, "v1 text A.4", "most frequent MISD", "points")
    modes = {k: g.mode().tolist() for k, g in groups.items()}
    told = {k: " and ".join(map(str, mode)) for k, mode in modes.items()}
    pooled = modes.pop("all") == [said]
    each = ", ".join(f"{k}: {told[k]}" for k in modes)
    return {
        "each source": outcome(each, all(mode == [said] for mode in modes.values())),
        "all paragraphs": outcome(told["all"], pooled),
    }


def _closer(spread, human):
    """Do the ratings of the models' paragraphs differ less than those of the human ones?"""
    models, people = spread[~human], spread[human]
    by = models.groupby("source").mean()
    made = {
        "mean MISD, models together": outcome(
            f"{models.mean():.2f} against {people.mean():.2f}", models.mean() < people.mean()
        ),
        "mean MISD, each model": outcome(
            f"{by.min():.2f} to {by.max():.2f} against {people.mean():.2f}",
            by.max() < people.mean(),
        ),
    }
    for most in (1, 2):
        x, y = (100 * (part <= most).mean() for part in (models, people))
        name = f"share with a MISD of 0 to {most}"
        made[name] = outcome(f"{x:.1f} against {y:.1f}%", x > y)
    return made


def _beyond_chance(wide):
    """Agreement by coefficients that allow for chance."""
    alpha = stats.krippendorff_alpha(wide.to_numpy().T).value
    single = intraclass(wide)
    made = {
        "Krippendorff's alpha, ordinal": outcome(f"{alpha:.2f}", alpha >= LEAST_ALPHA),
        "intraclass correlation, ICC(2,1)": outcome(f"{single:.2f}", single >= LEAST_ICC),
    }
    for weights in ("quadratic", "linear"):
        ac = stats.gwet(wide.to_numpy().T, SCALE, weights=weights)
        made[f"Gwet's AC2, {weights} weights"] = outcome(f"{ac:.2f}", ac >= LEAST_AC)
    return made


def _on_labels(labels, whole):
    """How often are models' paragraphs called generic or false, and their answers rated well?"""
    models = labels[labels["row"] != HUMAN].set_index("column")
    generic, false = (models.loc[label] for label in (LABELS[0], "Factually incorrect"))
    good = 100 * (whole.drop(HUMAN, level="source").stack() >= GOOD).groupby("source").mean()
    return {
        "labels": reading(
            f"{generic['value'].sum()} of {generic['n'].sum()} paragraphs",
            every(generic["value"] > 0),
        ),
        "accurate": {
            "not labelled factually incorrect": outcome(
                f"{false['value'].sum()} of {false['n'].sum()} paragraphs labelled so",
                every(false["value"] < false["n"] / 2),
            ),
            "rated 4 or 5": outcome(
                ", ".join(f"{model} {share:.0f}%" for model, share in good.items()),
                every(good > 50),
            ),
        },
    }
