"""A sheet, the checks of its tasks, and their feedback. An unsolved task never raises."""

import functools
import html
import sys
import traceback
from pathlib import Path

import pandas as pd

from bedside import BedsideError, choose
from bedside.read import paths
from bedside.write.prose import prose

from . import answers, classroom, field
from .answers import Wrong


class Feedback:
    """What a check says, as a notebook shows it: ok (None: not answered yet) and text.

    collected: a free text, kept to be read. Its ok is True, but nothing called it right.
    """

    LOOKS = {  # sign, colour and edge; white on each colour has a contrast of 4.5 at least
        "right": ("✓", "#1a7a3c", "solid"),
        "collected": ("✎", "#2468b4", "solid"),
        "not yet": ("✗", "#c0352b", "double"),
        "open": ("…", "#6b6b6b", "dotted"),
    }

    def __init__(self, ok, text, collected=False):
        self.ok, self.text, self.collected = ok, text, collected

    @property
    def state(self):
        """The state in a word: right, collected, not yet, or open."""
        if self.ok and self.collected:
            return "collected"
        return {True: "right", False: "not yet", None: "open"}[self.ok]

    def __repr__(self):
        return f"{self.LOOKS[self.state][0]} {self.text}"

    def _repr_html_(self):
        sign, colour, edge = self.LOOKS[self.state]
        box = f"border-left: 6px {edge} {colour}; padding: 0.4em 0.8em; max-width: 60em"
        label = f"background: {colour}; color: #ffffff; padding: 0.1em 0.5em; border-radius: 0.3em"
        word = f'<strong style="{label}">{sign} {self.state}</strong>'
        return f'<div style="{box}">{word} {html.escape(self.text)}</div>'


class Done:
    """What is done of a sheet and whether it was handed in, as a notebook shows it."""

    def __init__(self, states, told):
        self.states, self.told = states, told

    def __str__(self):
        done = sum(s in classroom.DONE for s in self.states.values())
        text = f"{done} of {len(self.states)} tasks done"
        for state, what in (("not yet", "not right yet"), ("open", "open")):
            if found := [n for n, s in self.states.items() if s == state]:
                text += f"; {what}: {', '.join(found)}"
        return text

    def __repr__(self):
        each = "  ".join(f"{n} {Feedback.LOOKS[s][0]} {s}" for n, s in self.states.items())
        return f"{self}\n{each}\n{self.told}"

    def _repr_html_(self):
        each = ""
        for n, state in self.states.items():
            sign, colour, edge = Feedback.LOOKS[state]
            box = f"border: 1px solid; border-bottom: 6px {edge} {colour}; padding: 0.1em 0.5em"
            each += f'<span style="{box}; white-space: nowrap">{n} {sign} {state}</span>'
        row = f'<div style="display: flex; flex-wrap: wrap; gap: 0.4em">{each}</div>'
        return f"<p><strong>{self}</strong></p>{row}<p>{html.escape(self.told)}</p>"


def raised(error, *answers):
    """What the code of an answer that is a function raised, in a sentence; "" if none did."""
    files = {a.__code__.co_filename for a in answers if hasattr(a, "__code__")}
    own = [f for f in traceback.extract_tb(error.__traceback__) if f.filename in files]
    if not own:
        return ""
    where = f"in line {own[-1].lineno} of its cell: {own[-1].line}"
    return f"your code raises {type(error).__name__} ({error}) {where}"


def open_in(answer):
    """Whether something is still to be answered: an Ellipsis, None or blank text anywhere in it."""
    if isinstance(answer, dict):
        return not answer or any(open_in(v) for v in answer.values())
    if isinstance(answer, (list, tuple, set)):
        return any(open_in(v) for v in answer)
    return answer is ... or answer is None or (isinstance(answer, str) and not answer.strip())


def task(number, free=False, code=False):
    """Mark a method of a sheet as the check of a task.

    It takes the answer and returns praise, or raises Wrong with what to look at. Its words may
    stand in words.toml beside the sheet, under the task's number (`Sheet.said`).
    free: the answer is the student's own text, which is collected and not called right.
    code: the answer is a function, whose text is handed in to be read: nobody runs it again.
    """

    def mark(method):
        method.task, method.free, method.code = number, free, code
        return method

    return mark


def needs(*numbers):
    """Mark a method that takes the answers to these tasks and shows something.

    It returns Feedback instead while one of the answers is open or can't be shown.
    """

    def wrap(method):
        @functools.wraps(method)
        def once_answered(self, *answers, **more):
            if lacking := [n for n, a in zip(numbers, answers) if open_in(a)]:
                which = " and ".join(lacking)
                follows = (
                    f"This needs your answer to task {which}. Answer it, then run this cell again."
                )
                return Feedback(None, follows)
            try:
                return method(self, *answers, **more)
            except Exception as e:  # an answer may be code
                first = f"First check your answer to task {' and '.join(numbers)}."
                return Feedback(False, f"This can't be shown: {raised(e, *answers) or e}. {first}")

        return once_answered

    return wrap


class Sheet:
    """A sheet's data and checks; each sheet derives `class Sheet` from it."""

    paper = ""  # whose sheet it is
    now = ""  # the task that is checked
    also = ()  # sources that it shows where they are, besides those it needs

    @classmethod
    def tasks(cls):
        """The checks by task number."""
        found = (getattr(cls, n) for n in dir(cls) if not n.startswith("_"))
        made = {m.task: m for m in found if hasattr(m, "task")}
        return dict(sorted(made.items(), key=lambda m: [int(k) for k in m[0].split(".")]))

    @classmethod
    @functools.cache
    def words(cls):
        """What the checks say, by task and key, from the words.toml beside the sheet."""
        home = getattr(sys.modules[cls.__module__], "__file__", None) or "none"
        path = Path(home).with_name("words.toml")
        return paths.toml(path) if path.is_file() else {}

    def asks(self, number):
        """What an answer to a task looks like."""
        return self.words()[number]["asks"]

    def said(self, key="right", task=None, **fields):
        """The words of this key for a task, or that which is checked, with the fields filled in."""
        return self.words()[task or self.now][key].format(**fields)

    def wrong(self, key, **fields):
        """What to raise for a mistake: Wrong with the words of this key."""
        return Wrong(self.said(key, **fields))

    def headed(self, task, rows, digits=2):
        """Rows as a table to read, under the task's `columns`."""
        return prose(pd.DataFrame(rows, columns=self.words()[task]["columns"]), digits)

    def limited(self, **numbers):
        """What the sheet's numbers can't show, with these: its `limits` as a table."""
        rows = ((what, text.format(**numbers)) for what, text in self.words()["limits"].items())
        return prose(pd.DataFrame(rows, columns=["What to keep in mind", "Number in this run"]))

    def refuse(self, cases, **fields):
        """Raise Wrong with the words of the first key whose case holds: {key: whether}."""
        for key, holds in cases.items():
            if holds:
                raise self.wrong(key, **fields)

    def numbers(self, answer, truth, mistakes, by=0.006, hint="hint", **fields):
        """`right`, with the words of the keys of `mistakes`, and of `hint`."""
        leads = {self.said(key, **fields): to for key, to in mistakes.items()}
        answers.right(answer, truth, leads, self.said(hint, **fields), by)

    @functools.cached_property
    def checked(self):
        """By task: the answer that was checked last and what was said, as they are handed in."""
        return {}

    def check(self, number, answer=...):
        """The same as `feedback`, and keep answer and feedback to be handed in."""
        said = self.feedback(number, answer)
        entry = {"state": said.state, "said": said.text, "answer": classroom.plain(answer)}
        self.checked[str(number)] = entry
        return said

    def name_field(self):
        """A text field for a pseudonym; `hand_in` takes it."""
        return field.name()

    def hand_in(self, name=..., folder=None):
        """Show what is done, and write all checked answers into a file for the instructor.

        name: a pseudonym, or the field for one; without one nothing is written.
        """
        name = getattr(name, "value", name)
        nothing = {"state": "open", "said": "", "answer": None}
        entries = {n: self.checked.get(n, nothing) for n in self.tasks()}
        states = {n: e["state"] for n, e in entries.items()}
        if set(states.values()) == {"open"}:
            told = (
                "Nothing was handed in, because no answer was checked. Run the cells from the top"
                " first."
            )
        elif open_in(name) or not classroom.named(name):
            told = "Nothing was handed in yet: give a pseudonym and run this cell again."
        else:
            try:
                number = next(iter(states)).partition(".")[0]
                path = classroom.write(self.paper, number, entries, name, folder)
                told = (
                    f"Handed in: the file {path.name} in {classroom.where(path.parent)}. Its full"
                    f" path: {path.resolve()}. It holds everything that you have checked since you"
                    " opened the sheet, so of several files the last is the only one to send. Give"
                    " it to your instructor; nothing was sent."
                )
            except (OSError, BedsideError) as e:
                told = (
                    f"Nothing was handed in, because the file can't be written ({e}). Name another"
                    ' folder: sheet.hand_in(my_name, "...").'
                )
        return Done(states, told)

    def feedback(self, number, answer=...):
        """Feedback on an answer; never raises for an answer, whatever it is."""
        number = choose(str(number), self.tasks(), "task")
        method, before, self.now = self.tasks()[number], self.now, number
        if open_in(answer):
            return Feedback(None, f"Task {number}: not answered yet. {self.asks(number)}")
        try:
            return Feedback(True, f"Task {number}: {method(self, answer)}", method.free)
        except Wrong as e:
            return Feedback(False, f"Task {number}: {e}")
        except Exception as e:  # an answer of another form than the check expects, or its own code
            told = raised(e, answer) or "this can't be read as an answer"
            return Feedback(False, f"Task {number}: {told}. {self.asks(number)}")
        finally:
            self.now = before
