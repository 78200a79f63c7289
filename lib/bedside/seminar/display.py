"""What a sheet reads, and how it runs a coroutine in a notebook."""

import asyncio
import textwrap
from concurrent.futures import ThreadPoolExecutor

from bedside import choose
from bedside.build import settings
from bedside.run import Run
from bedside.write import frames

READ = {  # the sections that sheets read, which the students' zip holds
    "cancer_myth": ("labelled", "evaluation"),
    "medhalu": ("detection", "notes"),
    "meddialbench": ("consultations",),
}


def run(paper, notebook, profile="sample"):
    """A notebook's run for a sheet: of the profile's models, since its tasks are about these."""
    return Run(
        paper, notebook, profile=profile, models=" ".join(settings.profiles()[profile]["models"])
    )


def graded(paper, section, judge="lexical"):
    """What a section's notebook kept of the sample's own models, by one judge."""
    frame = frames.graded(paper, "sample", choose(section, READ[paper], "section of the sheets"))
    further = frame["model"].isin(settings.profiles()["sample"].get("recorded", {}))
    return frame[(frame["judge"] == judge) & ~further].reset_index(drop=True)


def finished(coroutine):
    """The result of a coroutine, run in a thread because a notebook's own loop runs already."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def wrapped(text, width=88):
    """A text in lines that break between words: JupyterLab breaks longer printed ones anywhere."""
    return "\n".join(textwrap.fill(line, width) for line in text.splitlines())
