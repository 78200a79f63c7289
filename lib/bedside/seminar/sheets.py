"""A sheet in a notebook: what it shows, its checks, and handing in."""

import functools
import html
import json
import textwrap

import pandas as pd

from bedside import BedsideError, choose
from bedside.build import settings
from bedside.read import paths
from bedside.run import Run
from bedside.write import frames
from bedside.write.prose import prose

from . import classroom, tasks
from .answers import Wrong, open_in

READ = {  # the sections that sheets read, which the students' zip holds
    "cancer_myth": ("labelled", "evaluation"),
    "radiation": ("free_form",),
    "medhalu": ("detection", "notes"),
    "meddialbench": ("consultations",),
}
REPLIES = paths.DATA / "seminar" / "replies.jsonl"
LARGER = "qwen2.5-coder-1.5b"
LOOKS = {  # sign, colour and edge; white on each colour has a contrast of 4.5 at least
    "right": ("✓", "#1a7a3c", "solid"),
    "collected": ("✎", "#2468b4", "solid"),
    "not yet": ("✗", "#c0352b", "double"),
    "open": ("…", "#6b6b6b", "dotted"),
}


DONE = ("right", "collected")


class Feedback:
    """What a check says, as a notebook shows it, and what the sheet shows once it is answered."""

    def __init__(self, state, text, shows=()):
        self.state, self.text, self.shows = state, text, shows

    def __repr__(self):
        return f"{LOOKS[self.state][0]} {self.text}"

    def _ipython_display_(self):
        from IPython.display import display

        sign, colour, edge = LOOKS[self.state]
        box = f"border-left: 6px {edge} {colour}; padding: 0.4em 0.8em; max-width: 60em"
        label = f"background: {colour}; color: #ffffff; padding: 0.1em 0.5em; border-radius: 0.3em"
        word = f'<strong style="{label}">{sign} {self.state}</strong>'
        page = f'<div style="{box}">{word} {html.escape(self.text)}</div>'
        display({"text/plain": repr(self), "text/html": page}, raw=True)
        for show in self.shows if self.state in DONE else ():
            if (made := show()) is not None:
                display(made)


class Sheet:
    """A sheet's data, checks and displays; each sheet derives from it.

    number: of its tasks. paper: its study, and its name in hand-ins.
    """

    number = paper = ""

    def counts(self):
        """{name: value} of what formulas may use."""
        return {}

    @classmethod
    def tasks(cls):
        """The sheet's tasks by number."""
        mine = [n for n in tasks.table() if n.startswith(f"{cls.number}.")]
        return {n: tasks.table()[n] for n in sorted(mine, key=lambda n: int(n[2:]))}

    @functools.cached_property
    def words(self):
        """The sheet's own table: headings of columns and what was written for it."""
        return tasks.table().get(self.paper, {})

    @functools.cached_property
    def names(self):
        """`counts`, computed once."""
        return self.counts()

    @functools.cached_property
    def checked(self):
        """By task: the answer that was checked last and what was said, as they are handed in."""
        return {}

    def check(self, number, answer=...):
        """Feedback on an answer, which is kept to be handed in; never raises for an answer."""
        number = choose(str(number), self.tasks(), "task")
        task, shows = self.tasks()[number], ()
        if isinstance(answer, list) and len(answer) == 2 and isinstance(answer[1], dict):
            answer = answer[1]  # beside the reading that it followed, in earlier versions
        if open_in(answer, each=not task.get("blanks")):
            state, text = "open", f"not answered yet. {task['asks']}"
        else:
            try:
                state, text = tasks.check(task, answer, self.names)
                shows = [functools.partial(getattr(self, s), answer) for s in task.get("then", ())]
            except Wrong as e:
                state, text = "not yet", str(e)
            except Exception:  # an answer of another form than the check expects
                state, text = "not yet", f"this can't be read as an answer. {task['asks']}"
        text = f"Task {number}: {text}"
        entry = {"state": state, "said": text, "answer": classroom.plain(answer)}
        self.checked[number] = entry
        return Feedback(state, text, shows)

    def name_field(self):
        """A text field for a pseudonym; `hand_in` takes it."""
        import ipywidgets

        return ipywidgets.Text(description="Pseudonym")

    def hand_in(self, name=..., folder=None):
        """Show what is done, and write all checked answers into a file for the instructor.

        name: a pseudonym, or the field for one; without one nothing is written.
        """
        name = getattr(name, "value", name)
        nothing = {"state": "open", "said": "", "answer": None}
        core = [n for n, t in self.tasks().items() if not t.get("extra") or n in self.checked]
        entries = {n: self.checked.get(n, nothing) for n in core}
        state = "open"
        told = "Nothing was handed in, because no answer was checked. Run the cells from the top."
        if any(e["state"] != "open" for e in entries.values()):
            told = "Nothing was handed in yet: give a pseudonym and run this cell again."
            if not open_in(name) and classroom.named(name):
                state, told = self._written(entries, name, folder)
        return Feedback(state, f"{_done(entries)}. {told}")

    def _written(self, entries, name, folder):
        try:
            path = classroom.write(self.paper, self.number, entries, name, folder)
        except (OSError, BedsideError) as e:
            return "open", (
                f"Nothing was handed in, because the file can't be written ({e}). Name another"
                ' folder: sheet.hand_in(my_name, "...").'
            )
        return "collected", (
            f"Handed in: the file {path.name} in the folder {path.resolve().parent}. It contains"
            " everything that you have checked since you opened the sheet. If there are several"
            " files, give the last one to your instructor. Nothing was sent."
        )

    # ---- what sheets show

    def reply(self, name, turns=False):
        """A recorded reply of the 1.5B model, with what it was asked; turns: all that was said."""
        record = replies()[name]
        said = record["messages"] if turns else record["messages"][-1:]
        who = {"user": "patient", "assistant": "model"}
        rows = [(who[m["role"]], m["content"]) for m in said] + [("model", record["reply"])]
        return prose(pd.DataFrame(rows, columns=["who", LARGER]))

    def table(self, name, rows, digits=2):
        """Rows under the headings that the sheet's words have under this name."""
        return prose(pd.DataFrame(rows, columns=self.words["columns"][name]), digits)

    def limits(self):
        """What the sheet's numbers can't show, with the numbers."""
        rows = ((what, tasks.said(text, self.names)) for what, text in self.words["limits"].items())
        return prose(pd.DataFrame(rows, columns=["What to keep in mind", "In this sheet"]))


def _done(entries):
    states = {n: e["state"] for n, e in entries.items()}
    done = sum(s in DONE for s in states.values())
    text = f"{done} of {len(states)} tasks done"
    for state, what in (("not yet", "not right yet"), ("open", "open")):
        if found := [n for n, s in states.items() if s == state]:
            text += f"; {what}: {', '.join(found)}"
    return text


@functools.cache
def replies():
    """{name: a recorded reply of the 1.5B model} to what the sheets ask beside the studies."""
    return {r["id"]: r for r in map(json.loads, REPLIES.read_text("utf-8").splitlines())}


def run(paper, notebook):
    """A notebook's run for a sheet: of the sample's models, since its tasks are about these."""
    return Run(paper, notebook, models=" ".join(settings.profiles()["sample"]["models"]))


def graded(paper, section, model="", judge="lexical"):
    """What a section's notebook kept of the sample, by one judge: of one model, or of its own."""
    frame = frames.graded(paper, "sample", choose(section, READ[paper], "section of the sheets"))
    further = frame["model"].isin(settings.profiles()["sample"].get("recorded", {}))
    mine = frame["model"] == model if model else ~further
    return frame[(frame["judge"] == judge) & mine].reset_index(drop=True)


def wrapped(text, width=88):
    """A text in lines that break between words: JupyterLab breaks longer printed ones anywhere."""
    return "\n".join(textwrap.fill(line, width) for line in text.splitlines())


# ---- in JupyterLab


def hints():
    """In a notebook, say what to do about a name that Python doesn't know."""
    try:
        from IPython import get_ipython
    except ImportError:
        return
    if shell := get_ipython():
        shell.set_custom_exc((NameError,), _hint)


def _hint(shell, kind, error, trace, tb_offset=None):
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
    print(
        f"Python doesn't know the name {error.name!r}. If it is a text, write it in quotation"
        f' marks: "{error.name}". If an earlier cell sets it, run that cell first. Then run this'
        " cell again; the sheet goes on."
    )
