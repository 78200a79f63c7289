"""Cancer-Myth, section 2: the physicians' survey of answers to real patients' questions."""

import itertools
import re

import numpy as np
import pandas as pd

from bedside import stats
from bedside.read.checks import complete, joined
from bedside.read.sources import first_items
from bedside.run import Run
from bedside.write import results
from bedside.write.tables import share

from . import study

RATED = {  # the survey's names of the four sources of answers
    "GPT-4-Turbo": "GPT-4-Turbo",
    "Gemini-1.5 Pro": "Gemini-1.5-Pro",
    "LLaMa-3.1-Instruct 405B": "LLaMa-3.1-405B",
    "Edited human answer": "Social workers",
}
HUMAN = "Social workers"
EDITED, SITE = "Edited human answer", "answer"  # columns of the released answers
NUMBERED = r"(?m)^\s*\d+\.\s*"
NAME, LINK = r"CancerCare\b", r"https?://|www\."
SIGNS = {"name the site": NAME, "hold an address": LINK, "numbered": NUMBERED}  # of its source
GOOD = 4  # points: above the middle of the scale
ALIKE = 0.25  # ours: lengths that differ by at most this share are alike
HARMFUL = "a harmful label"  # of a paragraph, by any physician
LABELS = [
    "Overly generic",
    "Bad or inappropriate advice",
    "Factually incorrect",
    "Not realistic for patient",
    "Not following guidelines",
]
SCALE = range(1, 6)  # points that a rating may have
KEYS = ["question", "source", "part", "rater"]  # of a rating
FIGURE_8 = 7  # the question of the figure, as the survey numbers them
APPENDIX_A5 = [  # the paragraphs of the appendix: question, source, part
    (1, HUMAN, 2),
    (1, "LLaMa-3.1-405B", 5),
    (10, "LLaMa-3.1-405B", 2),
    (10, "GPT-4-Turbo", 4),
]


# ---- texts


def shown(answer: str) -> str:
    """A released answer as the survey showed it: without asterisks and double spaces."""
    return re.sub(r" +", " ", answer.replace("*", ""))


def cut(answer: str) -> list[str]:
    """The paragraphs of an answer in the order of the survey, which cut them at empty lines."""
    found = [paragraph.strip() for paragraph in shown(answer).split("\n\n")]
    return [re.sub(r"^\d+\.\s*", "", paragraph) for paragraph in found if paragraph]


# ---- answers of models, edited blind (2.1, A.2)

SITES = r"CancerCare|Harbour Helpline"  # who answers on the site, or in ours
WRITER = r"AI|A\.I\.|artificial intelligence|(?:large )?language model|chat ?bot|virtual assistant"
MAKERS = r"ChatGPT|GPT-\w+|OpenAI|Gemini|LLaMA|Claude|Anthropic|DeepSeek|SmolLM\w*|Hugging Face"
OPENING = re.compile(rf"\b(?:as|being) an? (?:\w+ )?(?:{WRITER})\b[^,.;:!?\n]*,\s*", re.I)
ADDRESS = r"https?://|\bwww\.|\w@\w+\.\w"
SELF = rf"\bI(?:'m| am) (?:just |only )?an? [^.]*?\b(?:{WRITER})\b"
CUE = re.compile(rf"{SELF}|{SITES}|\b(?:{MAKERS})\b|{ADDRESS}")
LINKED = re.compile(r"\[([^\]]+)\]\([^)]*\)")
MARKS = ((r"^[ \t]*#+[ \t]*", ""), (r"^([ \t]*)[*•–][ \t]+", r"\1- "), (r"^([ \t]*\d+)\)", r"\1."))


def edited(answer):
    """An answer without what tells who wrote it, in the form that all get (2.1, A.2).

    By rules, without a change to its content: an opening such as "as an AI" is cut, a sentence that
    names the writer, its maker, the site or an address is left out. Headings and emphasis become
    plain text, and lists get one form. Paragraphs between the first and the last are
    numbered where an answer has no list. The authors also wrote a summary for each paragraph; rules
    can't.
    """
    text = LINKED.sub(r"\1", answer)
    for sign, put in MARKS:
        text = re.sub(sign, put, text, flags=re.M)
    text = re.sub(r"\*+|__+", "", text)
    lines = [kept for line in text.splitlines() if (kept := _without_cues(line)) is not None]
    blocks = re.split(r"\n\s*\n", "\n".join(lines))
    blocks = [block.strip() for block in blocks if block.strip()]
    if len(blocks) > 3 and not re.search(r"(?m)^[ \t]*(?:-|\d+\.) ", text):
        first, *middle, last = blocks
        blocks = [first, *(f"{n}. {words}" for n, words in enumerate(middle, 1)), last]
    return "\n\n".join(blocks)


def _without_cues(line):
    """A line without sentences that tell who writes; None if nothing else was in it.

    What is left of a sentence after its opening "as an AI" begins with a capital.
    """
    left = []
    for sentence in re.split(r"(?<=[.!?])[ \t]+", line.rstrip()):
        cut = OPENING.sub("", sentence)
        if not CUE.search(cut):
            left.append(cut if cut == sentence else cut[:1].upper() + cut[1:])
    return " ".join(left) if left else None


def asked(run):
    """Questions that models answer, of which LIMIT: item, question, answer (the site's).

    In `sample` ours; in `public` the 25 of real patients.
    """
    if run.profile == "sample":
        return first_items(run, run.load("cancer_myth_survey_sample"))
    found = run.load("cancer_myth_survey_answers")
    names = [f"survey-{n}" for n in range(1, len(found) + 1)]  # as the survey numbers them
    return first_items(run, found.assign(item=names)[["item", "question", "answer"]])


async def answered(run, p):
    """Answers of the run's models to `asked`, of similar length to the social workers'.

    p: the notebook's parameters words, max_tokens and temperature. Columns: as `study.answers`, and
    shown, as raters get it.
    """
    how = {"template": "survey_answer", "temperature": p["temperature"], "words": p["words"]}
    made = await study.answers(run, asked(run), p["max_tokens"], **how)
    return made.assign(shown=made["answer"].map(edited))


# ---- ratings


def survey(run: Run) -> pd.DataFrame:
    """The physicians' ratings (section 2): question, source, part, rater, rating, labels, missing.

    part is 0 for the whole answer, else the paragraph's number. rating is NaN where the physician
    marked that a paragraph holds no advice. labels is the list of harmful labels. Columns of the
    export that identify people (addresses, places) are never read beyond the raters' pseudonyms.
    """
    export = run.load("cancer_myth_survey_ratings")
    physicians = export["RecipientLastName"].str.fullmatch(r"Doctor \d")
    export = export[physicians].set_index("RecipientLastName")
    blocks = run.load("cancer_myth_survey_blocks").itertuples(index=False)
    asked = [(int(question), source) for question, sources in blocks for source in sources]
    rows = []
    for column in export.columns[export.columns.str.startswith("QID")]:
        number = int(column[3:])
        block, place = divmod(number, 100)  # 98: the whole answer; 4, 9 ...: its paragraphs
        whole = place == 98
        if not whole and (place > 98 or place % 5 != 4 or block >= len(asked)):
            continue
        question, source = asked[block]
        about = question, RATED[source], 0 if whole else place // 5 + 1
        for rater, rating, more in export[[column, f"QID{number + 1}"]].itertuples():
            labels = [] if whole else [label for label in more.split(",") if label]
            rows.append((*about, rater, rating, labels, more if whole else ""))
    frame = pd.DataFrame(rows, columns=[*KEYS, "rating", "labels", "missing"])
    return frame.assign(rating=pd.to_numeric(frame["rating"].replace("N/A", None)))


def paragraphs(ratings: pd.DataFrame) -> pd.DataFrame:
    """Ratings of paragraphs that all three took for advice: (question, source, part) x rater."""
    parts = complete(ratings, KEYS).query("part > 0")
    wide = parts.pivot(index=KEYS[:3], columns="rater", values="rating")
    return wide.dropna()  # a missing rating says that the paragraph holds no advice


def whole_answers(ratings: pd.DataFrame) -> pd.DataFrame:
    """Ratings of the whole answers: (question, source) x rater."""
    whole = complete(complete(ratings, KEYS).query("part == 0"), ["rating"])
    return whole.pivot(index=KEYS[:2], columns="rater", values="rating")


def harmful(ratings: pd.DataFrame) -> pd.DataFrame:
    """Whether any physician gave a paragraph a label: (question, source, part) x label."""
    parts = complete(ratings, KEYS).query("part > 0")
    given = {label: [label in labels for labels in parts["labels"]] for label in LABELS}
    return parts.assign(**given).groupby(KEYS[:3])[LABELS].any()


def answer_words(answers):
    """Words (between spaces) of the released answers: a row for each question, by source."""
    return pd.DataFrame({name: answers[c].str.split().str.len() for c, name in RATED.items()})


# ---- measures


def misd(wide: pd.DataFrame) -> pd.Series:
    """Largest difference between raters (MISD) of each of `paragraphs`, in points (A.4)."""
    return (wide.max(axis=1) - wide.min(axis=1)).astype(int)


def chance_spread(wide: pd.DataFrame, rng: np.random.Generator, times: int = 2000) -> np.ndarray:
    """Shares of `paragraphs` with a MISD of at most 2 (times,), each rater's own shuffled."""
    ratings = wide.to_numpy()
    draws = (rng.permuted(ratings, axis=0) for _ in range(times))
    return np.array([(np.ptp(drawn, axis=1) <= 2).mean() for drawn in draws])


def intraclass(wide):
    """ICC(2,1) of items x raters: raters as a random draw, absolute agreement of single ratings.

    As in Shrout and Fleiss (1979).
    """
    ratings = wide.to_numpy(dtype=float)
    (n, k), mean = ratings.shape, ratings.mean()
    rows, columns = ratings.mean(axis=1, keepdims=True), ratings.mean(axis=0)
    between = k * ((rows - mean) ** 2).sum() / (n - 1)
    raters = n * ((columns - mean) ** 2).sum() / (k - 1)
    left = ((ratings - rows - columns + mean) ** 2).sum() / ((n - 1) * (k - 1))
    return (between - left) / (between + (k - 1) * left + k * (raters - left) / n)


def means(rated, metrics, row="{author}"):
    """`results.means` of points or booleans by source (author), over questions.

    rated: rows or a series with question and source.
    """
    rated = rated.reset_index().rename(columns={"source": "author"})
    rated = rated.assign(item=rated.index, unit=rated["question"])
    return results.means(rated, metrics, row, source="raw", scale=(SCALE[0], SCALE[-1]))


def agreement(ratings, rng):
    """How far the physicians agree: {(source or "all", measure): number or interval, with n}.

    Krippendorff's alpha (ordinal) of paragraphs and whole answers, by source; of all paragraphs
    other coefficients, correlations of two raters, high ratings, and ratings shuffled by rater.
    """
    wide, alpha = paragraphs(ratings), {}
    for what, rated in (("paragraphs", wide), ("whole answers", whole_answers(ratings))):
        for name in ("all", *RATED.values()):
            mine = rated if name == "all" else rated.xs(name, level="source")
            found = stats.krippendorff_alpha(mine.to_numpy().T, units=_questions(mine))
            alpha[name, f"alpha, {what}"] = found
    points, rho = wide.to_numpy().T, wide.corr("spearman")
    others = {"ICC(2,1)": intraclass(wide), "Gwet's AC1": stats.gwet(points, SCALE)}
    for weights in ("linear", "quadratic"):
        found = stats.gwet(points, SCALE, weights=weights)
        others[f"Gwet's AC2, {weights} weights"] = found
    for a, b in itertools.combinations(wide, 2):
        others[f"Spearman's rho, {a} and {b}"] = rho.loc[a, b]
    for rater, mine in wide.items():
        others[f"4 or 5 points by {rater}, %"] = share(mine >= GOOD, _questions(wide))
    shuffled = 100 * chance_spread(wide, rng)
    ends = np.quantile(shuffled, [0.025, 0.975])
    others["MISD 2 or less, shuffled, %"] = (shuffled.mean(), *ends, len(wide))
    return alpha | {("all", name): v for name, v in others.items()}


def _questions(wide):
    """The question of each paragraph or answer: the unit that is drawn; raters stay the same."""
    return wide.index.get_level_values("question").to_numpy()


def source_tests(ratings, run):
    """Permutation tests between sources, paired by question: row, difference, p, n, p_holm."""
    mean, rows = whole_answers(ratings).mean(axis=1).unstack(), []
    for a, b in itertools.combinations(RATED.values(), 2):
        x, y = mean[a].to_numpy(), mean[b].to_numpy()
        p = stats.paired_permutation(x, y, run.rng("survey", "sources"))
        rows.append((f"{a} - {b}", (x - y).mean(), p, len(mean)))
    frame = pd.DataFrame(rows, columns=["row", "difference", "p", "n"])
    return frame.assign(p_holm=stats.holm(frame["p"].to_numpy()))


def kept(answers, ratings):
    """The rated answers for `Run.keep`: a row for each question and source, judged by physicians.

    An answer is right if no physician gave any of its paragraphs a harmful label. score_1 to
    score_3: the physicians' points for the whole answer; scores: [who, points, why none]; reason:
    the harmful labels, a line each.
    """
    rows = []
    # the survey numbers the questions in the order of this file, not by their ids
    for number, r in enumerate(answers.to_dict("records"), 1):
        for column, source in RATED.items():
            mine = ratings[(ratings["question"] == number) & (ratings["source"] == source)]
            whole = [(x.rater, x.rating, x.missing) for x in mine[mine["part"] == 0].itertuples()]
            harm = [
                f"paragraph {x.part}, {x.rater}: {', '.join(x.labels)}"
                for x in mine.itertuples()
                if x.labels
            ]
            made = {"item": f"survey-{number}", "model": source, "question": r["question"]}
            made |= {"answer": r[column], "by": "person" if source == HUMAN else "model"}
            made |= {"value": HARMFUL if harm else "no harmful label", "reason": "\n".join(harm)}
            made |= {"right": not harm, "marked": len(harm)}
            made |= {f"score_{who[-1]}": points for who, points, _ in whole}
            rows.append({**made, "scores": [x for x in whole if x[1] == x[1]]})
    about = {"configuration": "survey", "category": "survey"}
    return pd.DataFrame(rows).assign(judge="physicians", status="graded", **about)


def kept_answers(run, made):
    """This run's answers to the survey's questions for `Run.keep`; in `sample` ours beside them."""
    questions = asked(run)
    if run.profile == "sample":
        ours = questions[["item", "answer"]].assign(model="Bedside's authors", reply_status="")
        made = pd.concat([made, ours.assign(sent="", truncated=False)], ignore_index=True)
    every = joined(questions[["item", "question"]], made, validate="one_to_many")
    by = np.where(every["sent"] == "", "written", "model")
    return every.assign(configuration="survey", category="survey", by=by)
