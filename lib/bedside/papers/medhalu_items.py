"""MedHalu's judged items: the answers (section 2), detections by models and people (section 3), with an expert's note (section 5)."""

from ..items import ABSENT, human, marked, text, verdict
from . import medhalu as mh
from . import medhalu_detection as detection
from .medhalu_scores import locate

TITLE, SECTION = "MedHalu", "3 detection"       # models and people, with and without a note: one section, so that they can be set side by side
SAYS = {1.0: "yes, hallucinated", 0.0: "no, right"}
LABEL, AGAINST = "label of the answer", "held against the label"     # as judges: of an answer, and of who reads it


async def collect(document):
    """All judged items of the study into a `bedside.items.Document`."""
    run = document.run("medhalu", "03_expert_in_the_loop")
    document.begin(run, TITLE, AGAINST)
    p = run.settings
    items = await mh.benchmark(run, p["benchmark"], p["size"], p["generator"], p["generated_tokens"])
    labels = detection.annotations(run, items)
    right, notes = detection.marked(items, labels), detection.notes(items, labels)
    for r in items.itertuples():
        label = f"{mh.TYPES[r.type]}. {r.reason}".strip()
        document.share(f"medhalu {r.item}", text("Question", r.question), text("Answer under judgement", r.answer))
        document.share(f"medhalu {r.item} key", text("Expert answer", r.expert_answer), text("Label of the answer", label))
    people = {i: [human(f"{x.group}: {x.repeat}", SAYS[x.yes], x.type, x.reason) for x in part.itertuples()] for i, part in labels.groupby("item")}
    built(document, items, people)
    second = document.run("medhalu", "02_detection")
    detections(document, second, items, await detection.detect(second, items, p["max_tokens"], second.settings["repeats"]), right, people, "no note")
    for name, texts in notes.items():
        found = await detection.detect(run, items, p["max_tokens"], p["repeats"], texts, name)
        detections(document, run, items, found.assign(evaluator=found["evaluator"].str.removesuffix(name)), right, people, name.strip(", "), texts)
    readings(document, second, items, labels, right)


def built(document, items, people):
    """The answers themselves, for raters; their label is what was asked for when they were written."""
    run = document.run("medhalu", "01_benchmark")
    writer = "written answer" if run.profile == "sample" else run.settings["generator"]
    for r in items.itertuples():
        told = verdict(LABEL, "graded", SAYS[float(r.hallucinated)], not r.hallucinated, reason=f"{mh.TYPES[r.type]}. {r.reason}".strip())
        document.add(run, "2.2 answers", r.item, writer if r.hallucinated else "expert answer" if run.profile == "public" else writer, "answer", category=r.dataset,
                     title=r.question, shared=[document.share(f"medhalu {r.item} question", text("Question", r.question))], reply=r.answer,
                     verdicts=[told], human=people.get(r.item, ()))


def detections(document, run, items, found, right, people, condition, notes=None):
    """The rows of a model's detections."""
    of = items.set_index("item")
    for r in found.itertuples():
        answer = of.loc[r.item]
        said = verdict(AGAINST, r.status, SAYS.get(r.yes, ""), r.yes == float(answer["hallucinated"]), reason="; ".join(r.spans))
        document.add(run, SECTION, r.item, r.evaluator, f"{condition}, repeat {r.repeat + 1}", category=f"{answer['dataset']}, {mh.TYPES[answer['type']]}",
                     title=answer["question"], shared=[f"medhalu {r.item}", f"medhalu {r.item} key"], reply=r.raw if r.raw != ABSENT else "",
                     status=ABSENT if r.raw == ABSENT else "", truncated=r.truncated, verdicts=[said], human=people.get(r.item, ()),
                     blocks=[spans(answer["answer"], right.get(r.item, []), r.spans)] + ([text("Note in the prompt", notes[r.item])] if notes else []))


def spans(answer, right, found):
    """The answer with labelled and detected spans marked where they stand."""
    def places(spans):
        return [p for s in spans if (p := locate(s, answer))]
    return marked("Answer, labelled and detected spans", answer, labelled=places(right), detected=places(found))


def readings(document, run, items, labels, right):
    """People's readings as rows of their own, to be set beside models."""
    of = items.set_index("item")
    for r in labels.itertuples():
        answer = of.loc[r.item]
        document.add(run, SECTION, r.item, f"{r.group}: {r.repeat}", "no note, repeat 1", category=f"{answer['dataset']}, {mh.TYPES[answer['type']]}",
                     title=answer["question"], shared=[f"medhalu {r.item}", f"medhalu {r.item} key"], reply=r.reason or SAYS[r.yes],
                     verdicts=[verdict(AGAINST, "graded", SAYS[r.yes], r.yes == float(answer["hallucinated"]), reason="; ".join(r.spans))],
                     blocks=[spans(answer["answer"], right.get(r.item, []), r.spans)])
