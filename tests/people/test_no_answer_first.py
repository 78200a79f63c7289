"""No sheet gives an answer before its question: run without answers, nothing tells a solution.

A solution is what the source's `solution` cells set, and what the checks hold it against. It is
looked for in all outputs of the students' edition, and in its words before the task's check.
"""

import html
import json
import re

import pytest
from sheets import answers, cells, source, space

from bedside import seminar
from bedside.build.notebooks import execute
from bedside.read.checks import normal
from bedside.seminar import edited, editions

PAPERS = {1: "cancer_myth", 2: "radiation", 3: "medhalu", 4: "meddialbench"}
GIVEN = {  # what a question itself gives, or what stands elsewhere for another thing
    ("2.1", "added"): "stands in the record, where it is to be found, and later names the site",
    ("4.9", "set right"): "the question lists all four choices",
    ("3.5", "macro F1"): "an end of kappa's interval among the limits is 0.54, too",
}
KNOWN = {  # what an earlier task has as its own answer, or by chance
    ("3.6", "sensitivity"): "0.47 is also what a fair coin has, and an end of an interval in 3.3",
    ("3.8", "macro F1, notes beside all answers"): "the answer of 3.4",
    ("3.8", "specificity without a note"): "the answer of 3.6",
}
TELLING = re.compile(  # what task 1.1 is about, which nobody may know who answers it
    r"presuppos|for granted|untrue|not true|isn.t true|wrong on purpose|misconception"
    r"|notice|over.?correct|always object|false belief",
    re.I,
)
NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:\.\d+)?(?![\w]|\.\d)")


@pytest.fixture(scope="module", params=sorted(PAPERS))
def ran(request, tmp_path_factory):
    """A sheet's number, its cells as students run them, its answers, and the sheet."""
    (path,) = [p for p in editions.sources() if p.name.startswith(f"{request.param}_")]
    made = tmp_path_factory.mktemp("unsolved") / path.name
    made.write_text(json.dumps(edited.edition(path, students=True)), encoding="utf-8")
    execute(made, made, {})
    sheet = seminar.sheet(PAPERS[request.param])
    solved = answers(request.param, space(request.param, sheet))
    return json.loads(made.read_text(encoding="utf-8"))["cells"], solved, sheet


def shown(cell):
    """What a cell's outputs say, a line for each line or row of a table."""
    lines = []
    for o in cell.get("outputs", []):
        data = o.get("data", {})
        text = "".join(data.get("text/html") or data.get("text/plain") or o.get("text", ""))
        text = re.sub(r"<style.*?</style>|\n(?=\s*<)", "", text, flags=re.S)
        for row in re.split(r"</tr>|\n", text):
            lines.append(" ".join(html.unescape(re.sub(r"<[^>]*>", " | ", row)).split()))
    return [line for line in lines if line.strip(" |")]


def before(made, task):
    """The cells that come before the check of a task, all if it has none."""
    ends = [k for k, c in enumerate(made) if f'sheet.check("{task}"' in source(c)]
    return made[: ends[0]] if ends else made


def parts(answer):
    """An answer's values by key, those of pairs such as [reading, types] from the last part."""
    if isinstance(answer, (list, tuple)) and answer and isinstance(answer[-1], dict):
        answer = answer[-1]
    return answer if isinstance(answer, dict) else {"": answer}


def numbers_of(value):
    """How a number is printed that isn't whole: with one to three decimals, and in percent."""
    forms = {f"{value:.{d}f}" for d in (2, 3)} | {f"{value:.1f}" for _ in [0] if abs(value) > 1}
    forms |= {f"{100 * value:.1f}"} if abs(value) <= 1 else set()
    return {f for f in forms if float(f) % 1 and len(f.replace("0", "").strip("-.")) > 1}


def told(lines, key, value, tasks=frozenset()):
    """The lines that tell a value: its number, or the key and a label in one line.

    tasks: numbers of tasks, which stand everywhere.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return []
    if isinstance(value, str) and len(value.split()) > 3:
        return [line for line in lines if normal(value) in normal(line)]
    if isinstance(value, float) and (forms := numbers_of(value) - tasks):
        return [line for line in lines if forms & set(NUMBER.findall(line))]
    if not normal(key):
        return []
    name, label = rf"\b{re.escape(normal(key))}\b", rf"\b{re.escape(normal(str(value)))}\b"
    near = rf"{name}\W+{label}"  # a letter is also a word, unless a row begins with it
    apart = f"^{name}.*{label}" if len(normal(key)) == 1 else f"{name}.*{label}"
    pair = re.compile(near if isinstance(value, (int, float)) else f"{near}|{apart}")
    return [line for line in lines if pair.search(normal(line))]


def test_no_solution_is_shown_by_a_sheet_without_answers(ran):
    made, solved, sheet = ran
    everything = [line for cell in made for line in shown(cell)]
    found = []
    for task, answer in solved.items():
        words = [line for c in before(made, task) for line in source(c).splitlines()]
        words = [line for line in words if "sheet.check" not in line]
        for key, value in parts(answer).items():
            if (task, key) not in GIVEN:
                lines = told([*everything, *words], str(key), value, set(sheet.tasks()))
                found += [f"{task} {key!r} = {value!r}: {line[:150]}" for line in lines]
    assert not found, "\n".join(found)


def test_who_has_solved_all_before_is_not_told_the_next(ran, tmp_path):
    _, solved, sheet = ran
    number = next(iter(solved))[0]
    (path,) = [p for p in editions.sources() if p.name.startswith(number)]
    made = tmp_path / path.name
    made.write_text(json.dumps(edited.edition(path, students=False)), encoding="utf-8")
    execute(made, made, {})
    done = json.loads(made.read_text(encoding="utf-8"))["cells"]
    found = []
    for task, answer in solved.items():
        lines = [line for cell in before(done, task) for line in shown(cell)]
        for key, value in parts(answer).items():
            if (task, key) not in {**GIVEN, **KNOWN}:
                mine = told(lines, str(key), value, set(sheet.tasks()))
                found += [f"{task} {key!r} = {value!r}: {line[:150]}" for line in mine]
    assert not found, "\n".join(found)


def test_labels_of_the_data_do_not_stand_beside_what_is_to_be_labelled(ran):
    made, _, sheet = ran
    lines = [normal(line) for cell in made for line in shown(cell)]
    if sheet.paper == "cancer_myth":
        labelled = sheet.few.assign(text=sheet.few["answer"])[["text", "tone"]]
        hidden = [sheet.questions.loc[i, "presupposition"] for i in ("cm-only-1", "cm-risk-2")]
        assert not [h for h in hidden for line in lines if normal(h) in line]
        labels = ["plain", "warm", "brisk"]
    elif sheet.paper == "medhalu":
        labelled = sheet.of.loc[sheet.twelve].rename(columns={"answer": "text"})
        labels = ["hallucinated", "right", "input", "context", "fact"]
    else:
        pytest.skip("no texts that are labelled")
    for text in labelled["text"]:
        mine = [line for line in lines if normal(text) in line]
        rest = [line.replace(normal(text), "") for line in mine]
        assert mine and not [r for r in rest for label in labels if r.split()[-1] == label]


def test_nobody_is_told_what_task_1_1_is_about():
    first = [c for c in cells(1) if "instructor" not in c["metadata"].get("tags", [])]
    lines = [line for c in before(first, "1.1") for line in source(c).splitlines()]
    assert not [line for line in lines if TELLING.search(line)]
    (path,) = [p for p in editions.sources() if p.name.startswith("1_")]
    start = (path.parent / "START.md").read_text(encoding="utf-8")
    listed = [line for line in start.splitlines() if line.startswith("1. ")]
    assert listed and not TELLING.search(" ".join([path.stem.replace("_", " "), *listed]))


def test_teachers_have_the_three_questions_on_a_slide_before_the_task():
    sheet, made = seminar.sheet("cancer_myth"), cells(1)
    slide = next(c for c in before(made, "1.1") if c.get("id") == "slide")
    assert "instructor" in slide["metadata"]["tags"]
    questions = sheet.patients().data["question"]
    assert len(questions) == 3 and all(q in source(slide) for q in questions)


def test_reading_leaves_half_of_a_tasks_minutes_for_the_answer(ran):
    made, solved, _ = ran
    text = "\n".join(source(c) for c in made)
    headed = dict(re.findall(r"^## (\d\.\d) .*\((\d+) minutes", text, re.M))
    plan = {t: int(n) for n, t in re.findall(r"^\| (\d+) \| (\d\.\d) ", text, re.M)}
    spans = re.findall(r"^\| (\d+) to (\d+) \| (\d\.\d) ", text, re.M)
    plan |= {t: int(b) - int(a) for a, b, t in spans}
    assert {t: int(n) for t, n in headed.items()} == plan and set(plan) == set(solved)
    words, task = dict.fromkeys(plan, 0), None
    for cell in made:
        if head := re.match(r"##? (\d\.\d)?", source(cell)):
            task = head.group(1)
        if task:
            prose = source(cell) if cell["cell_type"] == "markdown" else ""
            words[task] += len(re.sub(r"[|*#>`-]", " ", " ".join([prose, *shown(cell)])).split())
    slow = {t: n / 200 for t, n in words.items() if n / 200 > plan[t] / 2}  # 200 words a minute
    assert not slow


@pytest.mark.parametrize(
    "line, key, value, tells",
    [
        ("GPT-4 | HealthQA | 0.468 | 0.872", "sensitivity", 0.4676, True),
        ("accuracy 0.57, macro recall 0.67", "sensitivity", 0.4676, False),
        ("| a | an answer | -1 |", "a", -1, False),
        ("mh-01 | yes | hallucinated | context", "mh-01", "context", True),
        ("mh-01 | How long?", "mh-01", "context", False),
        ("patient A: that the larynx has to go at once", "A", "That the larynx has to go", True),
        ("hits 4", "hits", 4, True),
        ("hits / 10 entries, of 4", "hits", 4, False),
    ],
)
def test_what_tells_an_answer(line, key, value, tells):
    assert bool(told([line], key, value)) is tells
