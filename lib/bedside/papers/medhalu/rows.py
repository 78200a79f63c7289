"""MedHalu's judged items: answers (section 2), detections (3), detections with a note (5)."""

from bedside.rows import human_label, marked, text, verdict

from .data import TYPES, units
from .detection import right_spans
from .labels import SAYS
from .spans import located
from .study import replayed

# models and people, with and without a note: one section, so that they can be set side by side
SECTION = "3 detection"
# as judges: of an answer, and of who reads it
LABEL, AGAINST = "label of the answer", "held against the label"


async def collect(document):
    """All judged items of the study into a `bedside.rows.Document`."""
    plain = document.run("medhalu", "02_detection")
    run = document.run("medhalu", "03_expert_in_the_loop")
    document.begin(run, AGAINST)
    items, labels, notes, found = await replayed(plain, run)
    share(document, items)
    people = people_of(labels)
    answers(document, items, people)
    reading = Readings(document, items, right_spans(items, labels), people)
    for name, detected in found.items():
        reading.by_models(run if name else plain, name, detected, notes.get(name))
    reading.by_people(plain, labels)


def share(document, items):
    """Add the blocks that all readings of an answer share."""
    for r in items.itertuples():
        question, answer = text("Question", r.question), text("Answer under judgement", r.answer)
        document.share(f"medhalu {r.item}", question, answer)
        expert = text("Expert answer", r.expert_answer)
        document.share(f"medhalu {r.item} key", expert, text("Label of the answer", why(r)))


def people_of(labels):
    """{item: people's labels of it}."""
    return {
        item: [
            human_label(f"{r.group}: {r.repeat}", SAYS[r.yes], r.type, r.reason)
            for r in part.itertuples()
        ]
        for item, part in labels.groupby("item")
    }


def why(r):
    """An item's type and the reason for its label."""
    return f"{TYPES[r.type]}. {r.reason}".strip()


def answers(document, items, people):
    """Add the answers themselves, for raters; a label says what the writer was asked for."""
    run = document.run("medhalu", "01_benchmark")
    # names, and by whom: hallucinated answers of a model count as written for the benchmark too
    writer = right = ("written answer", "written")
    if run.profile == "public":
        writer, right = (run.settings["generator"], "written"), ("expert answer", "person")
    unit = units(items)
    for r in items.itertuples():
        says, fair = SAYS[float(r.hallucinated)], not r.hallucinated
        name, by = writer if r.hallucinated else right
        document.add(
            run,
            "2.2 answers",
            r.item,
            name,
            "answer",
            unit=unit[r.item],
            by=by,
            sent=getattr(r, "sent", ""),
            category=r.dataset,
            title=r.question,
            shared=[document.share(f"medhalu {r.item} question", text("Question", r.question))],
            reply=r.answer,
            verdicts=[verdict(LABEL, "graded", says, fair, reason=why(r))],
            human=people.get(r.item, ()),
        )


class Readings:
    """Rows of what a model or a person said of an answer, with detected and labelled spans."""

    def __init__(self, document, items, right, people):
        self.document, self.items = document, items.set_index("item")
        self.unit = units(items)
        self.right, self.people = right, people

    def by_models(self, run, condition, detected, notes):
        """Detections with or without a note ({item: text})."""
        for r in detected.itertuples():
            self.add(
                run,
                r,
                r.evaluator.removesuffix(condition),
                f"{condition.strip(', ') or 'no note'}, repeat {r.repeat + 1}",
                reply=r.raw,
                status=r.why,
                truncated=r.truncated,
                sent=r.sent,
                human=self.people.get(r.item, ()),
                more_blocks=[text("Note in the prompt", notes[r.item])] if notes else [],
            )

    def by_people(self, run, labels):
        """People's readings, as rows of their own that can be set beside models'."""
        for r in labels.itertuples():
            self.add(
                run,
                r,
                f"{r.group}: {r.repeat}",
                "no note, repeat 1",
                by="person",
                reply=r.reason or SAYS[r.yes],
            )

    def add(self, run, r, model, configuration, more_blocks=(), **given):
        """One reading, compared with the answer's label."""
        answer = self.items.loc[r.item]
        fair = r.yes == float(answer["hallucinated"])
        said = verdict(AGAINST, r.status, SAYS.get(r.yes, ""), fair, reason="; ".join(r.spans))
        self.document.add(
            run,
            SECTION,
            r.item,
            model,
            configuration,
            unit=self.unit[r.item],
            category=f"{answer['dataset']}, {TYPES[answer['type']]}",
            title=answer["question"],
            shared=[f"medhalu {r.item}", f"medhalu {r.item} key"],
            verdicts=[said],
            blocks=[spans(answer["answer"], self.right.get(r.item, []), r.spans), *more_blocks],
            **given,
        )


def spans(answer, right, found):
    """The answer with labelled and detected spans marked in it."""
    return marked(
        "Answer, labelled and detected spans",
        answer,
        labelled=located(right, answer),
        detected=located(found, answer),
    )
