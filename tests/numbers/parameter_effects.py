"""What is measured of a notebook's plan, and what each parameter changes of it: RUNS.

It says for each changed parameter what is measured, its value as the notebook stands, and its value
then, both worked out by hand.
"""

from matrix import EMBEDDED

TOP = ("own_study", "explore_failures", "annotate")
TWO = {"fake-right", "fake-sentence"}
CHANGED = "(changed here)"  # in templates and in a design of one's own
SHARED = {
    "mode": "plan",
    "models": "fake-sentence fake-right",
    "judge": EMBEDDED,
    "limit": "3",
    "seed": "7",
    "prompts": "FOLDER/prompts",
}


class Seen:
    """What a notebook has planned, and its variables by name."""

    def __init__(self, space):
        self.space = space
        self.requests = space["run"].planned()

    def __getitem__(self, name):
        return self.space[name]

    def of(self, form, model=""):
        """The requests for an answer of this form ("" for text), to a model."""
        return [r for r in self.requests if form_of(r) == form and model in ("", r.model)]


def form_of(request):
    return (request.response_format or {"json_schema": {"name": ""}})["json_schema"]["name"]


def text(request):
    return "\n".join(m["content"] for m in request.messages)


# ---- what is measured


def asked(form):
    return lambda seen: {r.model for r in seen.of(form)}


def count(form, model=""):
    return lambda seen: len(seen.of(form, model))


def setting(name, form=""):
    return lambda seen: {r.body().get(name) for r in seen.of(form)}


def limit(form=""):
    return setting("max_tokens", form)


def size(name, of=None):
    return lambda seen: len(seen[name] if of is None else seen[name][of])


def seed(seen):
    return seen["run"].seed


def examples(seen):
    return len(seen["known"]["myth"].shown)


def marked(seen):
    """Whether requests hold the word of the changed templates."""
    return {CHANGED in text(r) for r in seen.requests}


def changed(**given):
    return {**SHARED, **given}


def alone(**given):
    return {"mode": "plan", **given}


# the embedded model's entry allows less than the notebooks: 96 tokens of an answer to a question,
# 64 in the loop, 40 of a note, a statement and a diagnosis, 128 of a detection; three turns


def terms_shown(seen):
    """How many terms a model as matcher is shown, over its requests."""
    entry = [r.response_format["json_schema"]["schema"] for r in seen.of("matches")]
    pairs = [e["properties"]["matches"]["items"]["properties"] for e in entry]
    return {len(pair["reference"]["enum"]) for pair in pairs}


ALL_TERMS = {"shown": (terms_shown, set(), {31})}  # only a model as matcher is shown any


def radiation(matches, then):
    return {
        "models": (asked(""), {EMBEDDED}, TWO),
        "judge": (count("matches"), matches, then),
        "limit": (size("patients"), 10, 3),
        "seed": (seed, 0, 7),
        "prompts": (marked, {False}, {True}),
        "max_tokens": (limit(), {1000}, {300}),
    }


def spans_allowed(seen):
    forms = [r.response_format["json_schema"]["schema"] for r in seen.of("detection")]
    return {form["properties"]["spans"].get("maxItems") for form in forms}


def medhalu(repeats):
    return {
        "models": (asked("detection"), {EMBEDDED}, TWO),
        "limit": (size("items"), 32, 3),
        "seed": (seed, 0, 7),
        "prompts": (marked, {False}, {True}),
        "max_tokens": (limit("detection"), {128}, {100}),
        "repeats": (lambda seen: {r.repeat for r in seen.requests}, *repeats),
        "most_spans": (spans_allowed, {3}, {None}),
    }


def talks(**given):
    talk = {"patient": "fake-list", "turns": 1, "turn_tokens": 60, "temperature": 0.1}
    return changed(design="FOLDER/design.toml", **talk, **given)


def meddialbench(before, after, clear):
    """before, after: statements; clear: those of patients who speak clearly, as `design` says it.

    A doctor's first question is the same in all configurations of a case, so it is asked once.
    """
    return {
        "models": (asked("diagnosis"), {EMBEDDED}, TWO),
        "limit": (size("cases"), 6, 3),
        "seed": (seed, 0, 7),
        "prompts": (marked, {False}, {True}),
        "design": (lambda seen: sum("Speak " + CHANGED in text(r) for r in seen.of("")), 0, clear),
        "patient": (lambda seen: asked("")(seen) - asked("diagnosis")(seen), set(), {"fake-list"}),
        "turns": (count(""), before, after),
        "turn_tokens": (limit(), {40}, {60}),
        "temperature": (setting("temperature", "diagnosis"), {0.7}, {0.1}),
    }


def configurations(seen):
    return seen["held"]["configuration"].nunique()


PAIRS = {"combinations": (configurations, 17, 21)}  # 1 + 10 + 6, and 1 + 10 + all 10 extreme pairs

JUDGED = {"examples": 1, "judge_temperature": 0.4}
OF_JUDGES = {
    "examples": (examples, 3, 1),
    "judge_temperature": (setting("temperature", "verdict"), {0}, {0.4}),
}

RUNS = {  # notebook: what is given beside SHARED, and what comes of each parameter
    # a run that names the embedded model nowhere only replays it
    "cancer_myth/05_judge_agreement": [
        (
            changed(judge="fake-list", **JUDGED),
            {
                "judge": (asked("verdict"), {EMBEDDED}, {"fake-list"}),
                "seed": (seed, 0, 7),
                "prompts": (marked, {False}, {True}),
                **OF_JUDGES,
            },
        ),
    ],
    "cancer_myth/02_adversarial_generation": [
        (
            changed(**JUDGED),
            {
                **OF_JUDGES,
                "models": (asked("questions"), {EMBEDDED}, TWO),
                # the embedded model categorises 21 labelled questions as it stands; as the judge
                # it also compares 20 labelled pairs of myths, and of each of two models it grades
                # three questions on each of three myths and compares nine myths on three cancers:
                # eight with earlier ones, three that were collected, nine with others
                "judge": (count("verdict"), 21, 21 + 20 + 2 * (3 * 3 + 8 + 3 + 9)),
                "limit": (size("used"), 10, 3),
                "prompts": (marked, {False}, {True}),
            },
        ),
    ],
    "cancer_myth/03_evaluation": [
        (
            changed(max_tokens=300, temperature=0.7, **JUDGED),
            {
                **OF_JUDGES,
                "models": (asked(""), {EMBEDDED}, TWO),
                "seed": (seed, 0, 7),
                # as a second judge it grades all 42 answers; as the judge those of two models to
                # three questions
                "judge": (count("verdict"), 42, 2 * 3),
                "limit": (size("items"), 42, 3),
                "prompts": (marked, {False}, {True}),
                "max_tokens": (limit(), {96}, {300}),
                "temperature": (setting("temperature"), {0}, {0.7}),
            },
        ),
    ],
    "cancer_myth/04_mitigation": [
        (
            changed(temperature=0.7, **JUDGED),
            {
                "examples": OF_JUDGES["examples"],
                # the embedded model's own checks of complexity stay at 0
                "judge_temperature": (setting("temperature", "verdict"), {0}, {0, 0.4}),
                # and so do the agents' notes and the optimiser's answers in training
                "temperature": (setting("temperature"), {0}, {0, 0.7}),
                "models": (asked(""), {EMBEDDED}, TWO),
                "seed": (seed, 0, 7),
                # 12: the embedded model's own checks of complexity, three items of each of four
                # sets. As the judge, of each of two models: 12 answers in training, and five
                # methods' answers to three reported questions of each of two kinds
                "judge": (count("verdict", EMBEDDED), 12, 2 * (12 + 5 * 2 * 3)),
                "limit": (size("sets", "Cancer-Myth"), 12, 3),
                "prompts": (marked, {False}, {True}),
            },
        ),
        (
            alone(max_tokens=50, note_tokens=20),
            {
                "max_tokens": (lambda seen: max(limit()(seen)), 96, 50),
                "note_tokens": (lambda seen: min(limit()(seen)), 40, 20),
            },
        ),
    ],
    "radiation/01_reference_and_profiles": [
        (
            changed(incomplete=5, max_tokens=300),
            {
                "models": (asked("record"), {EMBEDDED}, TWO),
                "prompts": (marked, {False}, {True}),
                # five of the first three, by two models
                "limit": (count("record"), 1, 2 * 3),
                "max_tokens": (limit("record"), {400}, {300}),
            },
        ),
    ],
    "radiation/06_judge_agreement": [
        (
            changed(judge="fake-list"),
            {
                "judge": (asked("matches"), {EMBEDDED}, {"fake-list"}),
                "seed": (seed, 0, 7),
                "prompts": (marked, {False}, {True}),
            },
        )
    ],
    # as the second matcher the embedded model reads one list of each of ten patients; as the
    # matcher, of two models and three patients: both profiles, with and without a number asked for
    "radiation/02_free_form": [
        (changed(max_tokens=300), radiation(10, 2 * 3 * 4)),
    ],
    # both profiles, two kinds of lists, with and without a number asked for
    "radiation/03_grounded_selection": [
        (changed(max_tokens=300, shown="vocabulary"), radiation(0, 2 * 3 * 8) | ALL_TERMS)
    ],
    # besides, a model compares both free-form lists of a patient, with and without a number: as the
    # judge of each of three, else of as many as it is told
    "radiation/04_documentation_sensitivity": [
        (changed(max_tokens=300), radiation(3 * 2, 2 * 3 * (8 + 2))),
        (alone(second_matcher=4), {"second_matcher": (count("matches"), 3 * 2, 4 * 2)}),
    ],
    # the free-form lists of both profiles, matched as they are; four more where they are split at
    # hyphens or have another patient's site
    "radiation/07_robustness": [
        (
            changed(max_tokens=300),
            {**radiation(0, 2 * 3 * 2 + 4), "limit": (count(""), 10 * 2, 2 * 3 * 2)},
        )
    ],
    # specified profiles only
    "radiation/05_survivorship_recall": [
        (changed(max_tokens=300, shown="vocabulary"), radiation(0, 2 * 3 * 4) | ALL_TERMS)
    ],
    "medhalu/01_benchmark": [
        (
            changed(generator="fake-list", max_tokens=300),
            {
                # of 32 questions a quarter keeps the expert's answer; of the first three, with
                # the types that seed 7 draws, one
                "limit": (count("answer"), 32 * 3 // 4, 2),
                "seed": (seed, 0, 7),
                "prompts": (marked, {False}, {True}),
                "generator": (asked("answer"), {EMBEDDED}, {"fake-list"}),
                "max_tokens": (limit("answer"), {128}, {300}),
            },
        )
    ],
    "medhalu/02_detection": [
        (changed(max_tokens=100, repeats=2, most_spans=0), medhalu(({0, 1, 2}, {0, 1})))
    ],
    "medhalu/03_expert_in_the_loop": [
        (changed(max_tokens=100, repeats=2, most_spans=0), medhalu(({0}, {0, 1})))
    ],
    # the pilot and 17 configurations in three turns of two statements, of six cases; then 21 in one
    # turn of two doctors. Of the 21, six have incoherent or vague speech, and the pilot too
    "meddialbench/01_design_and_validation": [
        (
            talks(judge="fake-list", combinations="extreme"),
            {
                **meddialbench(6 * (17 * 6 - 16) + 2 * 5, 2 * (3 + 3 * 21 + 2), 2 * 3 * 15),
                "judge": (asked("verdict"), {EMBEDDED}, {"fake-list", *TWO}),
                **PAIRS,
            },
        ),
    ],
    "meddialbench/02_baseline": [
        (
            talks(),
            {
                **meddialbench(6 * 6, 2 * 3 * 2, 2 * 3),
                # of nine consultations (two doctors and the rules): three questions each, twice
                "judge": (count("verdict"), 0, 9 * 2),
            },
        )
    ],
    # eleven configurations, two of them with vague or incoherent speech
    "meddialbench/03_single_dimension": [
        (
            talks(),
            {
                **meddialbench(6 * (11 * 6 - 10), 2 * (3 + 3 * 11), 2 * 3 * 9),
                "judge": (lambda seen: EMBEDDED in asked("verdict")(seen), False, True),
            },
        )
    ],
    **{
        name: [
            (
                talks(combinations="extreme"),
                {
                    **meddialbench(6 * (17 * 6 - 16), 2 * (3 + 3 * 21), 2 * 3 * 15),
                    "judge": (lambda seen: EMBEDDED in asked("verdict")(seen), False, True),
                    **PAIRS,
                },
            )
        ]
        for name in ("meddialbench/04_interactions", "meddialbench/05_vulnerability")
    },
    "meddialbench/06_robustness": [
        (
            changed(),
            {
                "models": (asked("diagnosis"), {EMBEDDED}, TWO),
                "judge": (lambda seen: EMBEDDED in asked("verdict")(seen), False, True),
                "limit": (lambda seen: len(seen["here"].cases), 6, 3),
                "seed": (seed, 0, 7),
                "prompts": (marked, {False}, {True}),
            },
        )
    ],
    "own_study": [
        (
            changed(judge="fake-list"),
            {
                "models": (asked(""), {EMBEDDED}, TWO),
                "judge": (asked("verdict"), {EMBEDDED}, {"fake-list"}),
                "seed": (lambda seen: seen["run"].seed, 0, 7),
            },
        )
    ],
}
