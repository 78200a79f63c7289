"""The page before the first item of a study's protocol: consent, and questions about the rater."""

import json
from datetime import UTC, datetime

from bedside.keep.store import append, digest
from bedside.read.prompts import clean

NOT_SAID = "prefer not to say"


class Entrance:
    """A rater's consent and background, <task>/background/<rater>.jsonl: a line each time.

    `passed` once the rater has agreed, anew for each session. Answers are optional and never leave
    the file but as numbers of raters (`raters.background`).
    """

    def __init__(self, task, log, group):
        self.task, self.group = task, group
        self.path = log.path.parent / "background" / log.path.name
        self.passed = not (task.consent or task.background)

    def shown(self):
        """The page, for the front-end: consent, and questions with the answers given so far."""
        given = answers(self.path).get("answers", {})
        questions = [
            {"name": name, "question": question, "answers": [NOT_SAID, *known]}
            | {"given": given.get(name, NOT_SAID)}
            for name, question, known in self.task.background
        ]
        return {"consent": clean(self.task.consent), "questions": questions}

    def enter(self, agreed, given):
        """Record consent and answers ({name: answer}), and go on. Returns "", or the fault."""
        if agreed is not True:
            return "nothing is shown without your consent; agree, or close this page"
        known = {name: (NOT_SAID, *a) for name, _, a in self.task.background}
        said = {name: given.get(name, NOT_SAID) for name in known}
        if strange := [a for name, a in said.items() if a not in known[name]]:
            return f"{strange[0]!r} is not one of the answers"
        line = {"consent": digest(self.task.consent), "group": self.group, "answers": said}
        line |= {"at": datetime.now(UTC).isoformat(timespec="seconds")}
        append(self.path, [json.dumps(line).encode() + b"\n"])
        self.passed = True
        return ""


def answers(path):
    """The last line of a rater's file, {} without one that can be read."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # not there; a file that can't be written is reported later
        return {}
    for line in reversed(lines):
        try:
            return {"answers": {}, "group": ""} | json.loads(line)
        except (ValueError, TypeError):
            continue
    return {}
