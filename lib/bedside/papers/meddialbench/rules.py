"""MedDialBench without a model: a patient who follows his script to the letter, and a doctor with a checklist.

Forty lines that can be read: what the behaviours do to information, seen through a doctor who believes everything. The
doctor knows only the diseases of the run's cases, and the wrong diagnoses that their scripts point to; so his accuracy
says nothing about any model. Both are functions for `meddialbench_consultations.hold`.
"""

import functools

from bedside import models
from bedside.models import Reply
from bedside.papers.meddialbench.consultations import END, by_models, frame, hold, normal, planned
from bedside.papers.meddialbench.judging import told

NAME = "rules"
ENOUGH = 5  # findings of one disease that settle it
NOTHING = "No, nothing like that."
ASIDE = "Where was I, the number {} bus was late."


def knowledge(cases, texts):
    """{disease: its findings} of the cases, and of the wrong diagnoses of their scripts."""
    known = {c.diagnosis: list(c.key_items) for c in cases.itertuples()}
    for r in texts[texts["toward"] != ""].itertuples():
        known.setdefault(r.toward, list(r.false))
    return known


def speakers(design, cases, texts):
    """Doctor, patient and diagnosis for `hold`."""
    known, scripts = knowledge(cases, texts), texts.set_index(["item", "level"])

    def leading(c):
        """Diseases, the best one first, by findings heard less findings asked for in vain; and all that was heard."""
        said, asked = [normal(s) for s in c.statements()], {q for q, _ in c.turns}
        heard = {
            f for findings in known.values() for f in findings if any(normal(f) in s for s in said)
        }
        score = {
            d: sum((f in heard) - (f not in heard and question(f) in asked) for f in findings)
            for d, findings in known.items()
        }
        return sorted(known, key=lambda d: -score[d]), heard

    async def doctor(c):
        diseases, heard = leading(c)
        asked = [q for q, _ in c.turns]
        left = [
            q
            for again in (0, 1)
            for d in diseases
            for f in known[d]
            if f not in heard and asked.count(q := question(f)) == again
        ]
        done = not left or sum(f in heard for f in known[diseases[0]]) >= ENOUGH
        return Reply(c.item, NAME, "", text=END if done else left[0])

    async def patient(c):
        asked, said, lies = [q for q, _ in c.turns], [], []
        near = max(c.case.key_items, key=lambda k: len(told(k) & told(asked[-1])))
        wanted = _same(near, asked[-1])
        for level in c.levels:
            if (c.case.item, level) not in scripts.index:  # a level of one's own without scripts
                continue
            script, severity = scripts.loc[(c.case.item, level)], design.levels[level]["severity"]
            touched = near in [c.case.key_items[n - 1] for n in script["facts"]]
            if design.pathway(level) == "deficit" and touched:
                wanted = wanted and asked.count(asked[-1]) > severity  # tells when asked once more
            elif design.pathway(level) == "pollution":
                wanted = wanted and not (touched and severity > 1)
                lies += script["false"][: len(script["false"]) if severity > 1 else 1]
            elif design.pathway(level) == "friction":
                said.append(ASIDE.format(len(asked)))
        said += [near] if wanted else []
        said += [
            lie
            for lie in lies
            if _same(lie, asked[-1]) or len(asked) <= len(lies) and lie == lies[len(asked) - 1]
        ]
        return Reply(c.item, NAME, "", text=" ".join(f"{s.rstrip('.')}." for s in said) or NOTHING)

    async def diagnose(c):
        return Reply(c.item, NAME, "", text=leading(c)[0][0])

    return doctor, patient, diagnose


async def consultations(
    run, design, cases, texts, configurations, *, patient, turns, turn_tokens, temperature
):
    """Consultations of the run's models with the patient (empty: the first of them), and of the rules with each other: (list, frame).

    most_turns and most_dialogues of a model (data/models.toml) hold for it.
    """
    patient = patient or run.models[0]
    most = [models.model(m) for m in dict.fromkeys([*run.models, patient])]
    made = planned(
        cases,
        configurations,
        run.models,
        patient,
        min([turns, *(m["most_turns"] for m in most if "most_turns" in m)]),
    )
    async with run.asking("consultations") as one:
        await hold(
            made,
            *by_models(run, one, design, texts, turn_tokens, temperature),
            at_once=min([10_000, *(m["most_dialogues"] for m in most if "most_dialogues" in m)]),
        )
    plain = planned(cases, configurations, [NAME], NAME, turns)
    await hold(plain, *speakers(design, cases, texts))
    return made + plain, frame(made + plain)


@functools.cache
def question(finding):
    """A finding as a question: its words that tell."""
    return f"Is there anything about {' '.join(w for w in normal(finding).split() if told(w))}?"


def _same(finding, text):
    """Whether a text has half of a finding's words that tell."""
    words = told(finding)
    return len(words & told(text)) >= max(1, len(words) / 2)
