"""Cancer-Myth: items, answers, the physicians' survey (section 2), PCS and PCR (section 4.2).

Frames are long, with `item` and `model` columns, joined by id.
"""

from .. import judges, stats
from ..models import Request

BOUNDS = " if unscored were worst to best"
GRADES = [-1, 0, 1]     # section 3.2: unaware, aware but incomplete, corrected
CATEGORIES = {"only/standard treatment": "Only/Standard Treatment", "no treatment": "No Treatment",
              "inevitable side effect": "Inevitable Side Effect", "causal misattribution": "Causal Misattribution",
              "underestimate risk": "Underestimated Risk", "no symptoms means no disease": "No Symptom, No Disease",
              "other": "Others"}
GENERATORS = {"gpt-4o": "GPT-4o", "gemini-1.5-pro": "Gemini-1.5-Pro", "claude-3-5-sonnet": "Claude-3.5-Sonnet",
              "claude-3.5-sonnet": "Claude-3.5-Sonnet", "manual": "Manual"}     # the released files spell one in two ways



def questions(run):
    """Questions with a false presupposition: item, question, correction, category, cancer, generator."""
    if run.profile == "sample":
        frame = run.load("cancer_myth_questions_sample").assign(generator="Bedside's authors")
    else:
        frame = run.load("cancer_myth_released").rename(columns={"presupposition_correction": "correction"})
        frame = frame.assign(item="cm-" + frame["QID"].astype(str), generator=frame["from_model"].map(GENERATORS))
    frame = frame.assign(category=frame["category"].map(CATEGORIES))
    return _limited(frame[["item", "question", "correction", "category", "cancer", "generator"]], run)


def plain_questions(run):
    """Questions without a false presupposition (Cancer-Myth-NFP, second version): item, question."""
    if run.profile == "sample":
        frame = run.load("cancer_myth_nfp_sample")
    else:
        frame = run.load("cancer_myth_nfp").rename(columns={"example_question": "question"})
        frame = frame.assign(item="nfp-" + frame["QID"].astype(str))
    return _limited(frame[["item", "question"]], run)


def _limited(frame, run):
    if frame["item"].duplicated().any() or frame.isna().any(axis=None):
        raise ValueError("an item stands twice, or has a category or generator that isn't known")
    return frame.head(run.limit or len(frame)).reset_index(drop=True)


def labelled(run):
    """The labelled answers with their questions: answer_id, item, question, correction, answer, label, tone."""
    return run.load("cancer_myth_labelled").merge(
        run.load("cancer_myth_questions_sample")[["item", "question", "correction"]], on="item", validate="many_to_one")


async def answers(run, items, max_tokens):
    """Answers of the run's models, zero-shot (section 4.2): item, model, answer, reply_status, truncated.

    reply_status is empty for an answer, else why there is none. A refusal is an answer: it corrects nothing.
    """
    import pandas as pd

    requests = [Request(r.item, m, run.prompt("answer", question=r.question), {"max_tokens": max_tokens, "temperature": 0})
                for m in run.models for r in items.itertuples()]
    replies = await run.ask(requests, "answers")
    return pd.DataFrame([(r.item, r.model, r.text or r.refusal, r.error, r.truncated) for r in replies],
                        columns=["item", "model", "answer", "reply_status", "truncated"])


async def verdicts(run, items, answered, example, judge=None):
    """Grades of all answers by the run's judge or another: `items`, `answered`, status and value, one row an answer."""
    import pandas as pd

    parts = []
    for model, mine in answered.groupby("model", sort=False):
        frame = items.merge(mine, on="item", validate="one_to_one")
        parts.append(frame.merge(await run.grade(frame, GRADES, "judge", example, judge), on="item", validate="one_to_one"))
    return pd.concat(parts, ignore_index=True)


async def judge_labelled(run, judge, example):
    """Verdicts of a judge on the labelled answers, in their order; the lexical one out of fold."""
    frame = example.assign(item=example["answer_id"], reply_status="")
    if judge == judges.LEXICAL:
        import pandas as pd

        made = judges.Lexical(example, GRADES).out_of_fold()
        return pd.DataFrame({"item": frame["item"], "status": "graded", "value": made, "raw": ""})
    return await run.grade(frame, GRADES, "judge", judge=judge)


def scores(graded, run, by=()):
    """PCS and PCR (section 4.2) by model and `by`: rows with value, low, high, n, unscored and their bounds.

    PCS in -1..1 is the mean grade, with a bootstrap interval over questions (of no width where all grades are equal,
    which is no certainty); PCR the percentage of grade 1, with a Wilson interval. least and most are the scores if all
    unscored answers had been worst or best.
    """
    import pandas as pd

    rows = []
    for key, part in graded.groupby(["model", *by], sort=False):
        value = part.loc[part["status"] == "graded", "value"].to_numpy(dtype=float)
        lost = len(part) - len(value)
        for metric, v, worst in (("PCS", value, -1.0), ("PCR", 100.0 * (value == 1), 0.0)):
            best = 1.0 if metric == "PCS" else 100.0
            if metric == "PCR" or not len(v):
                i, k = stats.wilson(int((v == best).sum()), len(v)), best
            else:
                i, k = stats.bootstrap(v, run.rng("scores", metric, *key)), 1
            rows.append({**dict(zip(["model", *by], key)), "metric": metric, "value": k * i.value, "low": k * i.low,
                         "high": k * i.high, "n": i.n, "unscored": lost,
                         "least": (v.sum() + worst * lost) / len(part), "most": (v.sum() + best * lost) / len(part)})
    return pd.DataFrame(rows)


def compare(graded, run):
    """Paired tests between models on shared questions: McNemar on PCR, permutation on PCS, Holm over the pairs."""
    import itertools

    import pandas as pd

    wide = graded[graded["status"] == "graded"].pivot(index="item", columns="model", values="value").astype(float)
    rows = []
    for a, b in itertools.combinations(wide.columns, 2):
        both = wide[[a, b]].dropna()
        x, y = both[a].to_numpy(), both[b].to_numpy()
        rows.append({"row": f"{a} vs {b}", "difference": 100 * ((x == 1).mean() - (y == 1).mean()),
                     "mcnemar": stats.mcnemar(x == 1, y == 1), "permutation": stats.paired_permutation(x, y, run.rng(a, b)),
                     "n": len(both), "detectable": 100 * stats.mde_paired(len(both), ((x == 1) != (y == 1)).mean())})
    frame = pd.DataFrame(rows, columns=["row", "difference", "mcnemar", "permutation", "n", "detectable"])
    return frame.assign(mcnemar_holm=stats.holm(frame["mcnemar"].to_numpy(float)),
                        permutation_holm=stats.holm(frame["permutation"].to_numpy(float)))


def drawn(items, size, run):
    """`size` questions drawn with the run's seed, in their order; all if size is 0 or there are no more."""
    if not 0 < size < len(items):
        return items
    return items.iloc[sorted(run.rng("drawn").choice(len(items), size, replace=False))].reset_index(drop=True)


def counts(items, what, source):
    """Questions by category or generator, most first: table rows."""
    found = items[what].value_counts()
    order = [c for c in CATEGORIES.values() if c in found.index] if what == "category" else found.index
    return table_rows((name, "questions", source, found[name], len(items)) for name in order)


def answer_health(answered, sets):
    """What the answers are like, by model and set of items: table rows in percent, words for the length."""
    rows = []
    for model, mine in answered.groupby("model", sort=False):
        for name, items in sets.items():
            part = mine[mine["item"].isin(items)]
            came = part[part["reply_status"] == ""]
            words = came["answer"].str.split().str.len()
            for column, value in (("mean words", words.mean()), ("cut off at the limit, %", 100 * came["truncated"].mean()),
                                  ("no answer, %", 100 * (part["reply_status"] != "").mean())):
                rows.append((f"{model}, {name}", column, "run", value, len(part)))
    return table_rows(rows)


def score_table(scores, run):
    """Printed PCR and PCS of both versions beside the run's: table rows, best printed first."""
    import pandas as pd

    parts = [(rows := printed_scores(run, v)).assign(column=rows["column"] + f", version {v}") for v in (1, 2)]
    printed = pd.concat(parts).assign(source="published", n=585)[["row", "column", "source", "value", "n"]]
    first = printed[printed["column"].str.startswith("PCR")].groupby("row")["value"].max().sort_values(ascending=False)
    printed = printed.sort_values("row", key=lambda r: r.map({m: i for i, m in enumerate(first.index)}), kind="stable")
    mine = with_bounds(scores.rename(columns={"model": "row", "metric": "column"}).assign(source="run"))
    return pd.concat([printed, mine[["row", "column", "source", "value", "low", "high", "n", "unscored"]]], ignore_index=True)


def with_bounds(rows):
    """`scores` rows, and for each with unscored answers what the score is if all of them were worst, or best."""
    import pandas as pd

    lost = rows[rows["unscored"] > 0]
    return pd.concat([rows, lost.assign(value=float("nan"), low=lost["least"], high=lost["most"],
                                        column=lost["column"] + BOUNDS)], ignore_index=True)


def series(table, metric=None):
    """Rows of a table for `plots.dots`, one metric of it, the version of the paper in the series."""
    table = table[~table["column"].str.endswith(BOUNDS)]
    part = table if metric is None else table[table["column"].str.split(",").str[0] == metric]
    version = part["column"].str.extract(r"(, version \d)")[0].fillna("")
    return part.assign(series=part["source"] + version)


def group_table(scores, by, run):
    """PCS by category or generator: table rows; the printed ones where the text has a number."""
    import pandas as pd

    pcs = scores[scores["metric"] == "PCS"]
    one = pcs["model"].nunique() == 1
    rows = pcs.assign(row=pcs[by] if one else pcs[by] + ", " + pcs["model"], source="run",
                      column="PCS" if not one else "PCS, " + pcs["model"])
    rows = with_bounds(rows)
    if by == "generator":
        printed = run.published("v1 text 4.3")
        printed = printed[printed["row"].str.contains(" on questions by ")]
        printed = printed.assign(row="GPT-4o (answers by Gemini-1.5-Pro)", column="PCS, version 1", source="published")
        rows = pd.concat([printed, rows])
    order = {c: i for i, c in enumerate(CATEGORIES.values())}
    return rows.sort_values("row", key=lambda r: r.map(lambda x: order.get(x, 99)), kind="stable", ignore_index=True)


def judge_table(graded, run):
    """PCS and PCR of the same answers under several judges, and PCR corrected for each judge's errors: table rows.

    The correction takes sensitivity and specificity from the judge's trust card; a judge without skill allows none.
    """
    import pandas as pd

    parts = []
    for judge, frame in graded.items():
        found, card = scores(frame, run), run.card(judge)
        parts.append(with_bounds(found.assign(row=found["model"] + ", judge " + judge, column=found["metric"])))
        for r in found[found["metric"] == "PCR"].itertuples():
            if "sensitivity" in card and r.n:
                rates = [stats.Interval(*(float("nan") if v is None else v for v in card[k].values()))
                         for k in ("sensitivity", "specificity")]
                i = stats.corrected_rate(round(r.value * r.n / 100), r.n, *rates, run.rng("corrected", judge, r.model))
                parts.append(pd.DataFrame([{"row": f"{r.model}, judge {judge}", "column": "PCR corrected for the judge's errors",
                                            "value": 100 * i.value, "low": 100 * i.low, "high": 100 * i.high, "n": r.n,
                                            "unscored": r.unscored}]))
    return pd.concat(parts, ignore_index=True).assign(source="run")


def pair_table(pairs):
    """`compare` as table rows: differences in points of PCR, p values plain and by Holm."""
    names = {"difference": "PCR difference, points", "mcnemar": "McNemar p", "mcnemar_holm": "McNemar p, Holm",
             "permutation": "PCS permutation p", "permutation_holm": "PCS permutation p, Holm",
             "detectable": "detectable PCR difference, points"}
    return table_rows((r["row"], label, "run", r[name], r["n"]) for _, r in pairs.iterrows() for name, label in names.items())


def possible_kappas(n, exact, zeros, zeros_right):
    """Kappas that appendix C.1 allows: -1 and 1 matched exactly, errors only among human 0s and only towards -1."""
    found = []
    for ones in range(n - zeros + 1):
        minus = n - zeros - ones
        wrong = zeros - zeros_right
        chance = (minus * (minus + wrong) + zeros * zeros_right + ones * ones) / n**2
        found.append((exact / n - chance) / (1 - chance))
    return found


def agreement_table(cards, table1, on_zero, kappas):
    """Table 1: printed agreement of GPT-4o and the run's judges' trust cards, in percent; kappa as it is."""
    import pandas as pd

    names = {"exact match": "exact match", "binary match": "binary match (-1 and 0 against 1)"}
    printed = [("GPT-4o (the paper's judge)", names[r.column], "published", r.value, None, None, 76, None)
               for r in table1.itertuples() if r.column in names]
    printed += [("GPT-4o (the paper's judge)", "exact match where the label is 0", "published", on_zero["value"].iloc[0],
                 None, None, None, None),
                ("GPT-4o (the paper's judge)", "kappa", "recomputed", None, min(kappas), max(kappas), 76, None)]
    rows = []
    for name, card in cards.items():
        scored = card["n"] - card["unscored"]
        for key, label in (("exact", names["exact match"]), ("binary", names["binary match"]), ("sensitivity", "sensitivity for 1"),
                           ("specificity", "specificity for 1"), ("kappa", "kappa"), ("kappa_quadratic", "kappa, quadratic")):
            if key in card:
                k = 1 if "kappa" in key else 100
                rows.append((name, label, "run", *(k * card[key][x] for x in ("value", "low", "high")), card[key]["n"],
                             card["unscored"]))
        if scored:
            zero = card["confusion"][GRADES.index(0)]
            i = stats.wilson(zero[GRADES.index(0)], sum(zero))
            rows.insert(-4, (name, "exact match where the label is 0", "run", 100 * i.value, 100 * i.low, 100 * i.high, i.n,
                             card["unscored"]))
    guess = next(iter(cards.values()))
    rows += [("constant guesser", label, "run", 100 * guess[key], None, None, guess["n"], 0)
             for key, label in (("guesser_exact", names["exact match"]), ("guesser_binary", names["binary match"]))]
    rows += [("constant guesser", "kappa", "run", 0.0, None, None, guess["n"], 0)]
    return pd.DataFrame(printed + rows, columns=["row", "column", "source", "value", "low", "high", "n", "unscored"])


def printed_scores(run, version):
    """The rows with the printed PCRs and PCSs of a version's models."""
    import pandas as pd

    tables = ("v1 text 4.3", "v1 introduction") if version == 1 else ("v2 Main results", "v2 text results")
    rows = pd.concat([run.published(t) for t in tables])
    return rows[rows["column"].isin(["PCR", "PCS"]) & ~rows["row"].str.contains("best model| on | with GEPA")]


def printed_rates(run, version):
    """Printed PCRs of a version by model, in percent."""
    rows = printed_scores(run, version)
    return rows[rows["column"] == "PCR"].set_index("row")["value"].rename(f"version {version}")


def grim_table(run, n=585):
    """The counts out of n that print as each PCR; value is the smallest, low and high the range, empty if none."""
    import pandas as pd

    rows = []
    for version in (1, 2):
        for model, rate in printed_rates(run, version).items():
            found = stats.grim_counts(rate, n, 0 if rate == round(rate) and rate != 40 else 1)
            rows.append((model, f"count, version {version}", "recomputed", *((found[0], found[0], found[-1]) if found else
                                                                             (None, None, None)), n))
    return pd.DataFrame(rows, columns=["row", "column", "source", "value", "low", "high", "n"])


def possible_p(run, a, b, n=585):
    """Least and largest exact McNemar p that two printed PCRs of the first version allow, and the two-proportion p."""
    rates = printed_rates(run, 1)
    x, y = (stats.grim_counts(rates[m], n, 1)[0] for m in (a, b))
    return *stats.mcnemar_range(x, y, n), stats.two_proportions(x, n, y, n)


def impossible_pairs(run):
    """Models of the second version whose printed PCR and PCS no grades can give: the share of -1 is PCR - PCS."""
    rows = run.published("v2 Main results").pivot(index="row", columns="column", values="value")
    right = rows["PCR"] / 100
    unaware = right - rows["PCS"]
    slack = 0.0005 + 0.005      # both are rounded
    return rows.index[(unaware < -slack) | (unaware + right > 1 + slack)].tolist()


def confusion_table(cards):
    """The judges' confusion matrices as table rows: label and grade against counts."""
    return table_rows((f"{name}: label {x}", f"graded {y}", "run", card["confusion"][i][j], sum(card["confusion"][i]))
                 for name, card in cards.items()
                 for i, x in enumerate(GRADES) for j, y in enumerate(GRADES))


def table_rows(rows):
    import pandas as pd

    return pd.DataFrame(rows, columns=["row", "column", "source", "value", "n"])
