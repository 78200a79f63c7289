"""Cancer-Myth, section 3: the loop that writes the questions, and the balancing of categories."""

import pandas as pd

from bedside.asking import registry
from bedside.asking.replies import NO_ANSWER, Request, json_object, response_format
from bedside.judging import parsing
from bedside.read import checks

from . import study
from .data import CATEGORIES

HARD, EASY, PER_MYTH = 6, 2, 3  # section 3.2: at most K_h and K_e examples, M questions a myth
JOINS = {-1: "valid", 1: "easy"}  # the set that a question joins by its answer's grade
QUESTION = (
    "generator myth item question correction status answer truncated sent verdict value joined"
).split()
NOTHING = [*NO_ANSWER.values(), "blank"]  # why a reply that came is no answer
UNANSWERED, MISSING = "unanswered", "missing"
FOOLS = "hard (joins the valid set)"


async def generate(
    run,
    model,
    myths,
    start,
    judging,
    *,
    settings,
    answer_tokens,
    answer_temperature=0,
    count=PER_MYTH,
):
    """The adversarial loop of one generator (section 3.2): frames (questions, rounds).

    Myth by myth `count` questions are asked for, with up to HARD examples drawn from the valid set,
    up to EASY of the easy ones, and all fixed invalid ones. The same model answers the questions,
    and the run's judge grades the answers. A question with grade -1 joins the valid set, one with 1
    the easy ones, and one with 0 or without a grade neither. `settings` are the generator's;
    judging: a `study.Known`.

    questions has a row for each question, with the columns QUESTION. status: as in `generated`, or
    UNANSWERED, and why, if the reply holds no answer; sent: keys of the requests for the question
    and its answer. rounds has a row for each myth: generator, myth, hard and easy (items shown),
    valid and invalid (sizes afterwards), stopped (why the loop ended here, else empty).

    Draws depend on seed, generator and myth alone, and every reply is recorded, so a loop that is
    cut off goes on where it was. A failed call ends the loop, since whatever came next would rest
    on a gap.
    """
    sets = {kind: start[start["kind"] == kind].to_dict("records") for kind in ("valid", "invalid")}
    sets["easy"] = []
    known = {checks.normal(question) for question in start["question"]}
    most = registry.most(model, settings["max_tokens"], "questions")
    settings = {**settings, "max_tokens": most, "seed": run.seed}
    answered = {"max_tokens": answer_tokens, "temperature": answer_temperature}
    questions, rounds = [pd.DataFrame(columns=QUESTION)], []
    for myth in myths.itertuples():
        drawn = _drawn(sets, run.rng("generation", model, myth.item))
        told = {"cancer": myth.cancer, "myth": myth.myth, "fact": myth.fact}
        prompt = run.prompt("generate", **drawn, invalid=sets["invalid"], count=count, **told)
        request = Request(
            myth.item, model, prompt, settings, listed_schema("questions", FIELDS, count)
        )
        (reply,) = await run.ask([request], "questions")
        stopped = reply.error
        if not stopped:
            mine = _named(generated(reply, count, known), model, myth.item, reply.key)
            mine, stopped = await _tried(run, model, mine, judging, answered)
        if not stopped:
            questions.append(mine)
            _join(sets, mine)
        rounds.append(
            {
                "generator": model,
                "myth": myth.item,
                **{kind: [e["item"] for e in examples] for kind, examples in drawn.items()},
                "valid": len(sets["valid"]),
                "invalid": len(sets["invalid"]) + len(sets["easy"]),
                "stopped": stopped,
            }
        )
        if stopped:
            break
    return pd.concat(questions, ignore_index=True)[QUESTION], pd.DataFrame(rounds)


async def generate_all(run, myths, start, judging, **options):
    """`generate` for each of the run's models: frames (questions, rounds) of all of them.

    With several generators each item begins with the generator's name.
    """
    made = []
    for model in run.models:
        made.append(await generate(run, model, myths, start, judging, **options))
    questions, rounds = (pd.concat(part, ignore_index=True) for part in zip(*made))
    if len(made) > 1:
        questions["item"] = questions["generator"] + " " + questions["item"]
    return questions, rounds


FIELDS = ("question", "correction")  # of a generated question


def listed_schema(name, fields, count):
    """The response format that asks for a list of `count` objects with these texts."""
    one = json_object(**{field: {"type": "string"} for field in fields})
    many = {"type": "array", "items": one, "minItems": count, "maxItems": count}
    return response_format(name, **{name: many})


def generated(reply, count, known, name="questions", fields=FIELDS):
    """What a reply lists under a name: `count` tuples of a status and the texts of the fields.

    The first two fields are needed, and the first tells entries apart.

    status: new, or copied (already in `known`, the normalised texts that the generator has seen or
    written, to which new ones are added). Else nothing usable came, for this reason: refused,
    truncated, unparsed, or missing (fewer than asked for, or without text; with the reason if the
    whole reply had none).
    """
    nothing = [""] * len(fields)
    if reply.no_answer == NO_ANSWER["refusal"]:
        return [("refused", *nothing)] * count
    if reply.no_answer:
        return [(f"{MISSING}: {reply.no_answer}", *nothing)] * count
    try:
        found = parsing.json_in(reply.text)[name]
        entries = [[entry[field].strip() for field in fields] for entry in found][:count]
    except (ValueError, KeyError, TypeError, AttributeError):
        return [("truncated" if reply.truncated else "unparsed", *nothing)] * count
    rows = []
    for texts in entries:
        text = checks.normal(texts[0])
        if not text or not checks.normal(texts[1]):
            status = MISSING
        else:
            status = "copied" if text in known else "new"
        known.add(text)
        rows.append((status, *texts))
    return rows + [(MISSING, *nothing)] * (count - len(rows))


def tried(questions):
    """The questions that were put to the model, with reply_status: why there is no answer."""
    status = [s.partition(": ") for s in questions["status"]]
    mine = questions.assign(reply_status=[why for _, _, why in status])
    return mine.loc[[kind in ("new", UNANSWERED) for kind, _, _ in status]]


def became(questions):
    """What became of the questions asked for: {in words: booleans}."""
    questions = checks.complete(questions, ["generator", "myth", "status"])
    value = checks.scored(questions, status="verdict")["value"].reindex(questions.index)
    status = questions["status"]
    apart = {
        FOOLS: value == -1,
        "partly corrected (apart)": value == 0,
        "easy (joins the invalid set)": value == 1,
        "answered, no grade (apart)": (status == "new") & (questions["verdict"] != "graded"),
    }
    reasons = sorted(s for s in status.unique() if ": " in s)
    nothing = ("copied", MISSING, "truncated", "unparsed", "refused", *reasons)
    return apart | {f"question {reason}": status == reason for reason in nothing}


def set_sizes(rounds):
    """Sizes of the valid and the invalid set after each myth that was done."""
    done = rounds[rounds["stopped"] == ""].set_index(
        rounds["generator"] + " after " + rounds["myth"]
    )
    return done[["valid", "invalid"]].add_suffix(" set")


async def kept(run, questions, used, known):
    """The questions put to the models that wrote them, for `Run.keep`, as `study.by_each_judge`.

    used: the myths. Adds the myth's text and fact, its category (the cancer) and unit.
    """
    facts = used[["item", "cancer", "myth", "fact"]]
    facts = facts.rename(columns={"item": "unit", "cancer": "category", "myth": "said"})
    asked = tried(questions)
    asked = asked.assign(model=asked["generator"], unit=asked["myth"])
    asked = checks.joined(asked, facts, "unit", "many_to_one", whole="left")
    made = await study.by_each_judge(run, asked, "myth", known)
    return made.assign(configuration="joined: " + made["joined"])


def _drawn(sets, rng):
    """The examples that a prompt shows, by kind; the hard ones are drawn first."""

    def some(examples, most):
        places = rng.choice(len(examples), min(most, len(examples)), replace=False)
        return [examples[i] for i in places]

    return {"hard": some(sets["valid"], HARD), "easy": some(sets["easy"], EASY)}


def _named(triples, model, myth, key):
    """`generated` questions as a frame, each with its item and its request's key."""
    items = [f"{myth}-q{k}" for k in range(1, len(triples) + 1)]
    frame = pd.DataFrame(triples, columns=["status", "question", "correction"])
    return frame.assign(generator=model, myth=myth, item=items, sent=key)


async def _tried(run, model, mine, judging, how):
    """The new questions answered, graded and in a set; and why the loop must stop, or nothing."""
    empty = {"answer": "", "truncated": False, "verdict": "", "joined": ""}
    new = mine[mine["status"] == "new"]
    if new.empty:
        return mine.assign(**empty, value=None), ""
    answered = await study.answers(run, new, models=[model], kind=study.OWN_ANSWER, **how)
    why = answered.set_index("item")["reply_status"]
    if (failed := why[~why.isin(["", *NOTHING])]).size:
        return mine, failed.iloc[0]
    lost = {item: f"{UNANSWERED}: {reason}" for item, reason in why.items() if reason}
    mine = mine.assign(status=[lost.get(r.item, r.status) for r in mine.itertuples()])
    answered = answered.drop(columns="model").rename(columns={"sent": "asked"})
    mine["sent"] += (" " + mine["item"].map(answered.set_index("item")["asked"])).fillna("")
    new = checks.joined(new, answered)
    verdict = await study.grade(run, new, "myth", judging)
    failed = verdict["raw"][(verdict["status"] == "error") & (new["reply_status"] == "")]
    if failed.size:
        return mine, failed.iloc[0]
    verdict = verdict.drop(columns="raw").rename(columns={"status": "verdict"})
    new = checks.joined(new, verdict)
    new = new[new["reply_status"] == ""]
    new["joined"] = new["value"].map(JOINS).fillna("neither")
    new = new[["item", "value", *empty]]
    mine = mine.merge(new, on="item", how="left", validate="one_to_one").fillna(empty)
    return mine.astype({"truncated": bool}), ""


def _join(sets, questions):
    """Put questions into the sets that they join, in the form that later prompts show."""
    for q in questions.to_dict("records"):
        if q["joined"] in JOINS.values():
            example = {"item": q["item"], "question": q["question"], "note": q["correction"]}
            sets[q["joined"]].append(example)


def balance(items, per_model, per_category, rng):
    """Algorithm 1 (appendix B.3) on each generator's questions: the rows selected, in their order.

    The first step takes up to `per_category` of each category. The second fills up to `per_model`
    in all by a random draw from the rest. As printed, the first step may pass `per_model`, and the
    second draws mostly from the large categories. Raises ValueError for an unknown category.
    """
    if unknown := set(items["category"]) - {*CATEGORIES, *CATEGORIES.values()}:
        raise ValueError(f"not a category: {sorted(map(str, unknown))}")
    chosen = set()
    for _, mine in items.groupby("generator", sort=False):
        selected, rest = [], []
        for _, part in mine.groupby("category", sort=True):
            order = part.index[rng.permutation(len(part))]
            selected += order[:per_category].tolist()
            rest += order[per_category:].tolist()
        more = min(max(per_model - len(selected), 0), len(rest))
        if more:
            selected += [rest[i] for i in rng.choice(len(rest), more, replace=False)]
        chosen.update(selected)
    return items.loc[[i for i in items.index if i in chosen]]
