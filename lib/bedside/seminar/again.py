"""What was handed in, checked again as data: no code of a student is run.

A file says how its answers were, and anybody can write a file. So the checks take the recorded
answers once more, and what the file says is kept beside what they say. Of an answer that is a
function they take what it returned.
"""

import contextlib
import io

from bedside import BedsideError

from .answers import number
from .tasks import Results, open_in

UNCHECKED = "unchecked"  # the state of an answer that can't be checked again
CODE = "the answer is a function, the file doesn't say what it returned, and it is not run here"
EARLIER = "it answers the question that an earlier edition had under this number"


def check(those, sheet):
    """Check the answers of these students again, each in its place; "" or why that can't be done.

    those: hand-ins of one sheet, as `classroom.students` reads them. sheet: makes the sheet. The
    states that the files had become `told`.
    """
    try:
        made = sheet()
    except BedsideError as e:  # a sheet on released data that are not here
        return str(e)
    for one in those:
        one.told = {n: state for n, (state, *_) in one.answers.items()}
        one.answers |= {
            n: (*verdict(made, n, answer, one.more.get(n, {})), answer)
            for n, (_, _, answer) in one.answers.items()
            if n in made.tasks()
        }
    return ""


def verdict(sheet, task, answer, entry=None):
    """The state of a recorded answer and what the check says of it.

    entry: what else the file has of it: the name of the check, and a function's values.
    """
    entry, method = entry or {}, sheet.tasks()[task]
    if not open_in(answer):
        if entry.get("check", None if method.renewed else method.__name__) != method.__name__:
            return UNCHECKED, EARLIER
        if method.code:
            if not known(values := entry.get("values"), sheet.inputs()):
                return UNCHECKED, CODE
            answer = Results(values)
    with contextlib.redirect_stdout(io.StringIO()):
        said = sheet.feedback(task, answer)
    return said.state, said.text


def known(values, inputs):
    """Whether a file's values are numbers, or names of errors, for exactly these inputs."""
    mine = isinstance(values, dict) and set(values) == set(inputs) and values.values()
    return bool(mine) and all(isinstance(v, str) or number(v) is not None for v in mine)
