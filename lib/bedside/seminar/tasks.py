"""A sheet, the checks of its tasks, and what they say. What isn't solved yet never raises."""

import functools
import html

from bedside import choose, paths

from . import classroom


class Feedback:
    """What a check says: ok (None: not answered yet) and text; a notebook shows it."""

    def __init__(self, ok, text):
        self.ok, self.text = ok, text

    def __repr__(self):
        mark = {True: "✓", False: "✗", None: "…"}[self.ok]
        return f"{mark} {self.text}"

    def _repr_html_(self):
        edge = {True: "solid", False: "double", None: "dotted"}[self.ok]
        style = f"border-left: 6px {edge}; padding: 0.4em 0.8em; max-width: 60em"
        return f'<div style="{style}">{html.escape(repr(self))}</div>'


class Wrong(ValueError):
    """An answer that isn't right yet; the text says what to look at."""


def open_in(answer):
    """Whether something is still to be answered: an Ellipsis, None or blank text anywhere in it."""
    if isinstance(answer, dict):
        return not answer or any(open_in(v) for v in answer.values())
    if isinstance(answer, (list, tuple, set)):
        return any(open_in(v) for v in answer)
    return answer is ... or answer is None or (isinstance(answer, str) and not answer.strip())


def task(number, asks):
    """Mark a method of a sheet as the check of a task.

    It takes the answer and returns praise, or raises Wrong with what to look at.
    asks: what an answer looks like, for whom hasn't answered or answered with something else.
    """

    def mark(method):
        method.task, method.asks = number, asks
        return method

    return mark


def needs(*numbers):
    """A method that takes answers to tasks and shows something.

    While one of the answers is open, or can't be shown, there is Feedback in its place.
    """

    def wrap(method):
        @functools.wraps(method)
        def once_answered(self, *answers, **more):
            if lacking := [n for n, a in zip(numbers, answers) if open_in(a)]:
                which = " and ".join(lacking)
                follows = f"This follows from task {which}: answer it, then run this cell again."
                return Feedback(None, follows)
            try:
                return method(self, *answers, **more)
            except (TypeError, ValueError, KeyError, AttributeError, IndexError) as e:
                first = f"Check the answer of task {' and '.join(numbers)} first."
                return Feedback(False, f"That can't be shown ({e}). {first}")

        return once_answered

    return wrap


class Sheet:
    """A sheet's data and checks; each sheet derives `class Sheet` from it."""

    paper = ""  # whose sheet it is

    @classmethod
    def tasks(cls):
        """The checks by task number."""
        found = (getattr(cls, n) for n in dir(cls) if not n.startswith("_"))
        made = {m.task: m for m in found if hasattr(m, "task")}
        return dict(sorted(made.items()))

    @functools.cached_property
    def checked(self):
        """The answers that were checked last and what was said, as they are handed in, by task."""
        return {}

    def check(self, number, answer=...):
        """The same as `feedback`; the answer is kept and what was said, to be handed in."""
        said = self.feedback(number, answer)
        state = next(s for s, sign in classroom.STATES.items() if repr(said)[0] == sign)
        entry = {"state": state, "said": said.text, "answer": classroom.plain(answer)}
        self.checked[str(number)] = entry
        return said

    def hand_in(self, name=..., folder=None):
        """Show what is done, and write all answers that were checked into a file for who teaches.

        name: a pseudonym; without one nothing is written.
        """
        nothing = {"state": "open", "said": "", "answer": None}
        entries = {n: self.checked.get(n, nothing) for n in self.tasks()}
        states = {n: e["state"] for n, e in entries.items()}
        if set(states.values()) == {"open"}:
            told = "Nothing is handed in: no answer was checked. Run the cells from the top first."
        elif open_in(name) or not classroom.named(name):
            told = "Nothing is handed in yet: give a pseudonym, and run this cell again."
        else:
            try:
                number = next(iter(states)).partition(".")[0]
                path = classroom.write(self.paper, number, entries, name, folder)
                gives = "Give this file to who teaches; nothing was sent."
                told = f"Handed in: {paths.rel(path)}. {gives}"
            except OSError as e:
                told = f"Nothing is handed in, the file can't be written ({e}): name a folder."
        return classroom.Done(states, told)

    def feedback(self, number, answer=...):
        """Feedback on an answer; never raises for an answer, whatever it is."""
        method = self.tasks().get(choose(str(number), self.tasks(), "task"))
        if open_in(answer):
            return Feedback(None, f"Task {number}: not answered yet. {method.asks}")
        try:
            return Feedback(True, f"Task {number}: {method(self, answer)}")
        except Wrong as e:
            return Feedback(False, f"Task {number}: {e}")
        except Exception:  # an answer of another kind than the check expects
            return Feedback(False, f"Task {number}: this can't be read as an answer. {method.asks}")
