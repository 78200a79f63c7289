"""MedHalu's judged items: the answers (section 2), detections by models and people (section 3), with an expert's note (section 5)."""

from bedside.papers.medhalu import data as mh
from bedside.papers.medhalu import detection
from bedside.papers.medhalu.scores import locate
from bedside.rows import ABSENT, human_label, marked, text, verdict

TITLE, SECTION = (
    "MedHalu",
    "3 detection",
)  # models and people, with and without a note: one section, so that they can be set side by side
SAYS = {1.0: "yes, hallucinated", 0.0: "no, right"}
LABEL, AGAINST = (
    "label of the answer",
    "held against the label",
)  # as judges: of an answer, and of who reads it


async def replayed(plain, run):
    """Items, people's labels, notes, and detections by note ("" without one), as notebooks 02 (`plain`) and 03 (`run`) have them."""
    p = run.settings
    items = await mh.benchmark(
        run, p["benchmark"], p["size"], p["generator"], p["generated_tokens"]
    )
    labels = detection.annotations(run, items)
    notes = detection.notes(items, labels)
    found = {"": await detection.detect(plain, items, p["max_tokens"], plain.settings["repeats"])}
    for name, texts in notes.items():
        found[name] = await detection.detect(run, items, p["max_tokens"], p["repeats"], texts, name)
    return items, labels, notes, found


async def collect(document):
    """All judged items of the study into a `bedside.items.Document`."""
    plain, run = (
        document.run("medhalu", "02_detection"),
        document.run("medhalu", "03_expert_in_the_loop"),
    )
    document.begin(run, TITLE, AGAINST)
    items, labels, notes, found = await replayed(plain, run)
    right = detection.marked(items, labels)
    for r in items.itertuples():
        document.share(
            f"medhalu {r.item}",
            text("Question", r.question),
            text("Answer under judgement", r.answer),
        )
        document.share(
            f"medhalu {r.item} key",
            text("Expert answer", r.expert_answer),
            text("Label of the answer", why(r)),
        )
    people = {
        i: [
            human_label(f"{x.group}: {x.repeat}", SAYS[x.yes], x.type, x.reason)
            for x in part.itertuples()
        ]
        for i, part in labels.groupby("item")
    }
    built(document, items, people)
    of = items.set_index("item")
    for name, detected in found.items():
        for r in detected.itertuples():
            note = [text("Note in the prompt", notes[name][r.item])] if name else []
            reading(
                document,
                run if name else plain,
                of.loc[r.item],
                r,
                right,
                r.evaluator.removesuffix(name),
                f"{name.strip(', ') or 'no note'}, repeat {r.repeat + 1}",
                reply="" if r.raw == ABSENT else r.raw,
                status=ABSENT if r.raw == ABSENT else "",
                truncated=r.truncated,
                human=people.get(r.item, ()),
                more_blocks=note,
            )
    for r in labels.itertuples():  # people's readings as rows of their own, to be set beside models
        reading(
            document,
            plain,
            of.loc[r.item],
            r,
            right,
            f"{r.group}: {r.repeat}",
            "no note, repeat 1",
            reply=r.reason or SAYS[r.yes],
        )


def why(r):
    """An item's type and the reason for its label."""
    return f"{mh.TYPES[r.type]}. {r.reason}".strip()


def built(document, items, people):
    """The answers themselves, for raters; their label is what was asked for when they were written."""
    run = document.run("medhalu", "01_benchmark")
    writer = "written answer" if run.profile == "sample" else run.settings["generator"]
    for r in items.itertuples():
        told = verdict(
            LABEL, "graded", SAYS[float(r.hallucinated)], not r.hallucinated, reason=why(r)
        )
        document.add(
            run,
            "2.2 answers",
            r.item,
            writer if r.hallucinated else "expert answer" if run.profile == "public" else writer,
            "answer",
            category=r.dataset,
            title=r.question,
            shared=[document.share(f"medhalu {r.item} question", text("Question", r.question))],
            reply=r.answer,
            verdicts=[told],
            human=people.get(r.item, ()),
        )


def reading(document, run, answer, r, right, model, configuration, more_blocks=(), **given):
    """The row of whoever read an answer, model or person: what was said of it held against its label, marked spans beside labelled ones."""
    said = verdict(
        AGAINST,
        r.status,
        SAYS.get(r.yes, ""),
        r.yes == float(answer["hallucinated"]),
        reason="; ".join(r.spans),
    )
    document.add(
        run,
        SECTION,
        r.item,
        model,
        configuration,
        category=f"{answer['dataset']}, {mh.TYPES[answer['type']]}",
        title=answer["question"],
        shared=[f"medhalu {r.item}", f"medhalu {r.item} key"],
        verdicts=[said],
        blocks=[spans(answer["answer"], right.get(r.item, []), r.spans), *more_blocks],
        **given,
    )


def spans(answer, right, found):
    """The answer with labelled and detected spans marked where they stand."""

    def places(spans):
        return [p for s in spans if (p := locate(s, answer))]

    return marked(
        "Answer, labelled and detected spans",
        answer,
        labelled=places(right),
        detected=places(found),
    )
