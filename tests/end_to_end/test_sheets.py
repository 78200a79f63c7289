"""The seminar's sheets from the first cell to the last, solved and unsolved.

A solution is what a solved sheet gives to its checks. No sheet gives it before its question, in
outputs or in words.
"""

import html
import json
import re
from types import SimpleNamespace

import pytest

from bedside import seminar
from bedside.read import paths
from bedside.read.checks import normal
from bedside.seminar import editions, sheets, tasks
from seminar_answers import answer, ran

SHEETS = tasks.texts()
GIVEN = {  # what a question itself gives, or what stands elsewhere for another thing
    ("2.1", "added"): "stands in the record, where it is to be found, and later names the site",
    ("4.9", "set right"): "the question lists all four choices",
}
KNOWN = {  # what an earlier task has as its own answer, or by chance
    ("3.8", "macro F1, notes beside all answers"): "the answer of 3.4",
    ("3.8", "specificity without a note"): "the answer of 3.6",
}
NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:\.\d+)?(?![\w]|\.\d)")


def source(cell):
    return "".join(cell["source"])


def lines(texts):
    """Texts or HTML as lines, one for each row of a table."""
    made = []
    for text in texts:
        text = re.sub(r"<style.*?</style>|\n(?=\s*<)", "", text, flags=re.S)
        for row in re.split(r"</tr>|\n", text):
            made.append(" ".join(html.unescape(re.sub(r"<[^>]*>", " | ", row)).split()))
    return [line for line in made if line.strip(" |")]


def run(path, students, scratch):
    """A sheet that was run in this process: its cells, what each shows, and what it opened."""
    made, opened = ran(path, students, scratch)
    shown = [
        lines(o["data"].get("text/html") or o["data"]["text/plain"] for o in c.get("outputs", ()))
        for c in made["cells"]
    ]
    return SimpleNamespace(cells=made["cells"], shown=shown, sheets=opened)


def states(made):
    return {n: entry["state"] for s in made.sheets for n, entry in s.checked.items()}


@pytest.fixture(scope="module", params=SHEETS, ids=lambda p: p.stem)
def both(request, tmp_path_factory):
    """A sheet, run by a student without answers and solved by its instructor."""
    scratch = tmp_path_factory.mktemp("sheets")
    unsolved, solved = (run(request.param, students, scratch) for students in (True, False))
    return SimpleNamespace(path=request.param, unsolved=unsolved, solved=solved)


@pytest.fixture
def one(both):
    """The same; the extra tasks, which are of four sheets, are skipped."""
    if len(both.solved.sheets) > 1:
        pytest.skip("tasks of several sheets")
    return both


def test_solved_it_passes_every_check_and_unsolved_it_waits(both):
    core = {n for s in both.solved.sheets for n, t in s.tasks().items() if not t.get("extra")}
    assert set(states(both.unsolved).values()) == {"open"}
    assert set(states(both.solved).values()) <= {"right", "collected"}
    assert states(both.solved).keys() == states(both.unsolved).keys()
    assert len(both.solved.sheets) > 1 or core <= states(both.solved).keys()
    for n in (n for n in states(both.solved) if tasks.table()[n].get("then")):
        asked, solved = both.solved.shown[before(both.solved.cells, n) :][:2]
        assert len(asked) == 1 < len(solved), n


# ---- no answer before its question


def before(cells, task):
    """How many cells come before the check of a task."""
    check = re.compile(rf'sheet\.check\(\s*"{re.escape(task)}"')
    return next(k for k, c in enumerate(cells) if check.search(source(c)))


def numbers_of(value):
    """How a number is printed that isn't whole: with one to three decimals, and in percent."""
    forms = {f"{value:.{d}f}" for d in (2, 3)} | {f"{value:.1f}" for _ in [0] if abs(value) > 1}
    forms |= {f"{100 * value:.1f}"} if abs(value) <= 1 else set()
    return {f for f in forms if float(f) % 1 and len(f.replace("0", "").strip("-.")) > 1}


def told(lines, key, value, others, tasks):
    """The lines that tell a value: its number, or the key and a label in one line.

    Of two digits, a number is told beside its key or another number of the answer (`others`): ends
    of intervals are the same by chance. tasks: numbers of tasks, which stand everywhere.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return []
    if isinstance(value, str) and len(value.split()) > 3:
        return [line for line in lines if normal(value) in normal(line)]
    if isinstance(value, float) and (forms := numbers_of(value) - tasks):
        long = {f for f in forms if len(f.partition(".")[2]) == 3}
        return [
            line
            for line in lines
            if (there := set(NUMBER.findall(line))) & forms
            and (there & (long | others) or normal(key) in normal(line))
        ]
    if not normal(key):
        return []
    name, label = rf"\b{re.escape(normal(key))}\b", rf"\b{re.escape(normal(str(value)))}\b"
    near = rf"{name}\W+{label}"  # a letter is also a word, unless a row begins with it
    apart = f"^{name}.*{label}" if len(normal(key)) == 1 else f"{name}.*{label}"
    pair = re.compile(near if isinstance(value, (int, float)) else f"{near}|{apart}")
    return [line for line in lines if pair.search(normal(line))]


def telling(sheet, lines_of, excused):
    """The lines that tell answers, of the lines that a task's check follows."""
    found, tasks = [], set(sheet.tasks())
    for task, entry in sheet.checked.items():
        given = entry["answer"] if isinstance(entry["answer"], dict) else {"": entry["answer"]}
        forms = {k: numbers_of(v) for k, v in given.items() if isinstance(v, float)}
        for key, value in given.items():
            if (task, key) not in excused:
                others = set().union(*(f for k, f in forms.items() if k != key))
                mine = told(lines_of(task), str(key), value, others, tasks)
                found += [f"{task} {key!r} = {value!r}: {line[:150]}" for line in mine]
    return found


@pytest.mark.parametrize("edition, excused", [("unsolved", GIVEN), ("solved", GIVEN | KNOWN)])
def test_no_solution_is_told_before_its_question(one, edition, excused):
    """Without answers not in outputs or words, and not by what shows once all before are solved."""
    made, sheet = getattr(one, edition), one.solved.sheets[0]

    def lines_of(task):
        end = before(made.cells, task)
        words = "\n".join(map(source, made.cells[:end])).split("\n")
        words = [w for w in words if edition == "unsolved" and "sheet.check" not in w]
        return [*sum(made.shown[: end if edition == "solved" else None], []), *words]

    assert not (found := telling(sheet, lines_of, excused)), "\n".join(found)
    assert telling(sheet, lambda task: sum(one.solved.shown, []), {})  # solved, it does tell


def test_labels_of_the_data_do_not_stand_beside_what_is_to_be_labelled(one):
    sheet = one.solved.sheets[0]
    if sheet.paper not in ("cancer_myth", "medhalu"):
        pytest.skip("no texts that are labelled")
    of = {"cancer_myth": lambda: sheet.few, "medhalu": lambda: sheet.of.loc[sheet.twelve]}
    labels = {"plain", "warm", "brisk", "hallucinated", "right", "input", "context", "fact"}
    shown = [normal(line) for line in sum(one.unsolved.shown, [])]
    for text in of[sheet.paper]()["answer"].map(normal):
        mine = [line for line in shown if text in line]
        assert mine and not [m for m in mine if {*m.replace(text, "").split()[-1:]} & labels]


def test_nobody_is_told_what_task_1_1_is_about():
    cells = editions.notebook(SHEETS[0], students=True)["cells"]
    text = "\n".join(map(source, cells[: before(cells, "1.1")]))
    start = (SHEETS[0].parent / "START.md").read_text(encoding="utf-8")
    (listed,) = [line for line in start.splitlines() if line.startswith("1. ")]
    about = (
        r"presuppos|for granted|untrue|not true|isn.t true|misconception|over.?correct|false bel"
    )
    assert not re.search(about, f"{text} {listed} {SHEETS[0].stem}", re.I)


def test_a_sheet_fits_ninety_minutes(both):
    """At most 3,600 words and 45 cells for students; reading takes half of a task at most."""
    made = both.unsolved
    text = "\n".join(source(c) for c in both.solved.cells)
    prose = [source(c) for c in made.cells if c["cell_type"] == "markdown"]
    assert len(made.cells) <= 45 and sum(len(p.split()) for p in prose) <= 3600
    if len(made.sheets) > 1:
        return
    spans = [(int(a), int(b), t) for a, b, t in re.findall(r"\| (\d+) to (\d+) \| (\S+)", text)]
    plan = {t: b - a for a, b, t in spans} or {
        t: int(n) for n, t in re.findall(r"^\W*(\d+) \| (\S+)", text, re.M)
    }
    assert sum(plan.values()) == 90 and set(states(made)) <= set(plan)
    words, task = dict.fromkeys(plan, 0), None
    for cell, shown in zip(made.cells, made.shown):
        if head := re.search(r"^##? (\d\.\d+)?", source(cell), re.M):
            task = head.group(1) or ("At home" not in source(cell) and None)
        if task:
            prose = source(cell) if cell["cell_type"] == "markdown" else ""
            words[task] += len(re.sub(r"[|*#>`-]", " ", " ".join([prose, *shown])).split())
    assert not {t: n for t, n in words.items() if n / 200 > plan[t] / 2}  # 200 words a minute


def test_each_sheet_quotes_a_failure_of_the_larger_model_and_ends_at_home():
    for path in tasks.texts()[:4]:
        text = "\n".join(map(source, editions.notebook(path, students=True)["cells"]))
        assert "Qwen2.5-Coder with 1.5 billion parameters" in text
        assert re.search(r"do to (him|her)|do next\?", text)
        assert re.search(r"^## At home: a model that you use$", text, re.M)
        assert "never paste" in text
        extra = {n for n, t in tasks.table().items() if t.get("extra")}
        assert extra == {"1.6", "1.9", "2.6", "2.8", "3.5", "3.9", "4.6", "4.7"}
        assert not [n for n in extra if f'sheet.check("{n}"' in text]


def test_what_a_model_said_is_quoted_as_it_was_recorded():
    found = sheets.replies()
    for path in tasks.texts():
        for name in re.findall(r"\.reply\(\"([^\"]+)\"", path.read_text(encoding="utf-8")):
            assert found[name]["reply"] and found[name]["messages"][0]["role"] == "user"
    assert {f"group/{k}" for k in tasks.table()["meddialbench"]["groups"]} <= set(found)
    asked = {
        m["content"].partition(". ")[2]
        for n, r in found.items()
        for m in r["messages"][:1]
        if n.startswith("group/")
    }
    assert len(asked) == 1  # but for who asks


# ---- what the sheets show is right


def test_limits_show_the_judge_of_this_run():
    sheet = seminar.sheet("cancer_myth")
    card = json.loads((paths.FIGURES / "sample" / "cancer_myth" / "trust_lexical.json").read_text())
    text = sheet.limits().data.to_string()
    assert f"{card['kappa']['value']:.2f}" in text and f"n = {card['n']}" in text
    assert card["confusion"][2][2] == sheet.names["hit"]
    # by hand: of 75 same pairs 70 found, of 75 others 19 taken; (126 / 150 - 1 / 2) / (1 / 2)
    text = seminar.sheet("radiation").limits().data.to_string()
    assert "0.68" in text and "150 pairs" in text and "19 of 75" in text


def test_the_written_answer_is_right_by_name_and_harmful_in_four_sentences(capsys):
    # by hand: 9 entries, all of the site's 23 effects: precision 1, recall 9 / 23, F1 18 / 32
    made = seminar.sheet("radiation").harms([3, 9, 1]).data
    said = capsys.readouterr().out
    assert all(number in said for number in ("1.00", "0.39", "0.56"))
    assert made["number"].tolist() == [3, 4, 6, 9] and all(made["sources"])


def test_a_measure_is_asked_for_the_careful_list_made_better():
    # by hand: 14 hits, 4 wrong, 9 missed, 4 rejected; then one more hit, or one wrong entry fewer
    made = seminar.sheet("radiation")
    assert made.cases["careful"] == (14, 4, 9, 4) and {sum(c) for c in made.cases.values()} == {31}
    by = made.rank("1000 * hits + 100 * wrong + 10 * missed + rejected")
    assert (by["careful"], by["hit"], by["fewer"]) == (14494, 15484, 14395)


def test_a_detail_is_put_into_the_consultation_that_students_are_shown():
    sheet, detail = seminar.sheet("meddialbench"), answer("meddialbench", "4.5")
    page = sheet.with_detail(detail)._repr_html_()
    assert "as they like" in page and "weekend at my sister" not in page
    assert "flatmate" in page and "carbon monoxide" not in page.lower()


def test_written_consultations_are_whole_and_have_their_sources():
    sheet = seminar.sheet("meddialbench")
    for c in (*sheet.misled.values(), sheet.true, *sheet.longer.values()):
        assert all(len(turn) == 2 and all(turn) for turn in c["turns"])
        assert c["sources"] and all(": " in s for s in c["sources"])
    for c in sheet.longer.values():
        assert sorted(sum(c["told"], [])) == list(range(1, len(c["key_items"]) + 1))
        assert len(c["told"]) == len(c["turns"])
    assert sheet.ruled() == {"right at the baseline": 6, "lost": 4, "won": 0}


def test_the_twelve_answers_are_of_all_types_and_two_slips_can_be_found():
    """70.1% of 48 is no whole number; d, e and f come from no one table of 60."""
    sheet = seminar.sheet("medhalu")
    types = list(sheet.names["types"].values())
    assert {t: types.count(t) for t in types} == dict.fromkeys(
        ["none", "input", "context", "fact"], 3
    )
    assert sheet.slips().data["verdict"].tolist().count("impossible") == 2
