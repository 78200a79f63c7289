"""The page of a study of a user's own questions: its executed notebook, in the common frame."""

import re
from collections.abc import Iterable
from pathlib import Path

from bedside.publish.comparison import Compared
from bedside.read import paths, prompts

from . import HERE, executed, frame, models, template

FILES = (
    *("answers.csv", "verdicts.csv", "criteria.csv", "scores_elsewhere.csv"),
    *("errors.csv", "manifest.json"),
)

WIDE = re.compile(r'<div class="output_html\b[^">]*"')  # what may scroll, so the keyboard can too


def linked(name: str) -> dict[str, str]:
    """The pages of such a study, {file: name}, for `frame`."""
    return {"index.html": prompts.clean(name), "explorer.html": "Single replies"}


def write(
    folder: Path, name: str, notebook: Path, asked: Iterable[str], did: Compared | None = None
) -> Path:
    """Write index.html of the study `name` into `folder`; return its path.

    notebook: the executed notebook. asked: the models whose answers and verdicts it shows. did: the
    study as models are compared in it, None if nobody judged.
    """
    body = executed.converted(executed.read(notebook))
    text = template(HERE / "own.html.j2").render(
        frame=frame(linked(name), "index.html", dict.fromkeys(asked)),
        title=prompts.clean(name),
        profile="own questions",
        files=[file for file in FILES if (folder / file).is_file()],
        code=executed.style(),
        **models.shared(folder, models.part(folder, [did]) if did else None),
        body=WIDE.sub(r'\g<0> tabindex="0"', body),
    )
    path = folder / "index.html"
    paths.write(path, prompts.plain(text))
    return path
