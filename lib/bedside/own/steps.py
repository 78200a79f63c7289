"""The steps of `make study`: begin, plan, execute, report."""

from __future__ import annotations

import asyncio
import importlib
import shlex
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bedside import BedsideError, choose
from bedside.asking import batches, registry
from bedside.asking.models import MODES, waited
from bedside.build import notebooks, plans, rounds
from bedside.publish.pages import executed as page
from bedside.publish.pages import tell_calls
from bedside.read import paths, user_files
from bedside.read.surroundings import within
from bedside.read.user_files import there

from . import results, saved
from .study import PAPER, Own, answers, labelled, on_labelled, verdicts

if TYPE_CHECKING:
    import pandas as pd

FILES = ("questions", "answers", "rubric", "labels")


def begun(given: dict) -> tuple[Own, dict]:
    """(the study of these parameters, the parameters as its notebook takes them).

    It reads all files and prints where texts will go before anything is asked.
    """
    if "questions" not in given:
        raise BedsideError(
            'Name your questions: make study QUESTIONS=mine.csv MODELS="a b" JUDGE=c.'
            " For a first try, use data/sample/own/ten_questions.csv. See docs/own_study.md."
        )
    given = {n: _from_root(v) if n in FILES and isinstance(v, str) else v for n, v in given.items()}
    if (brought := given.get("answers")) and not there(brought):
        given["answers"] = shlex.join(map(_from_root, user_files.names(brought)))
    own = Own(**{"mode": "record", **given})
    print(own.texts_sent(), flush=True)
    return own, {**given, "questions": own.source, "name": own.name, "mode": own.mode}


def _from_root(file):
    """A file's path from the repository's root, where notebooks run; other names unchanged."""
    return paths.rel(paths.found(file).resolve()) if file and there(file) else file


async def _all_of_it(own):
    answered = await answers(own)
    await verdicts(own, answered)
    if own.judges and len(known := labelled(own, answered)):
        await on_labelled(own, known)


def plan(own: Own) -> None:
    """Print the number of calls and what they cost, direct and in batches, without a call."""
    waited(_all_of_it(own))
    known = own.given["answer"] if own.given is not None else ()
    calls = plans.of_study(PAPER, own.planned(), known)
    for model, mine in calls.groupby("model", sort=False):
        ways = (False, True) if registry.model(model).batch_discount else (False,)
        cost = "; in batches ".join(plans.told(mine, way) for way in ways)
        since = registry.model(model).price_date
        priced = f" (price as of {since})" * bool(since)
        print(f"{model}: {len(mine)} calls, {cost}{priced}")
    print(*plans.notes(calls), sep="\n")
    print(f"{len(calls)} calls in all. No call was made. Together {plans.told(calls)}.")


def waiting(given: dict) -> tuple[str, list[dict], str, str]:
    """What a user's own questions can ask now, as of `rounds.waiting`. given: as of `begun`."""
    own, given = begun({**given, "mode": "batch"})
    asyncio.run(_all_of_it(own))
    rows = [batches.row(r, own.recordings) for r in own.planned()]
    return f"own-{own.name}", rows, "", rounds.command("study", given)


def execute(own: Own, given: dict) -> None:
    """Execute the notebook of a study and write its page."""
    from bedside.asking import budget, progress

    # its own defaults are those of the bundled questions
    blank = {k: "" for k, v in notebooks.parameters(notebooks.OWN).items() if isinstance(v, str)}
    calling = own.mode in ("record", "fresh")
    if calling:
        budget.make()
    importing = threading.Thread(target=_imported, daemon=True)
    importing.start()
    try:
        with within(terminal=progress.terminal()):
            out = notebooks.executed(paths.file_name(own.name), "own")
            executed = notebooks.run(notebooks.OWN, {**blank, **given}, out)
    finally:
        if calling:
            tell_calls(own.folder)
    importing.join()
    asked, did = [*own.models, *own.judges], saved.compared(own.name) if own.judges else None
    page.write_own(own.folder, own.name, executed, asked, did)


def _imported():
    """What the page needs and the kernel's starter doesn't, imported while the kernel runs."""
    for name in ("scipy.stats", "matplotlib.figure"):
        importlib.import_module(name)


def study(
    questions: str | Path | pd.DataFrame,
    models: str | Sequence[str] = "",
    judge: str | Sequence[str] | None = None,
    *,
    name: str = "",
    rubric: str | Path = "",
    answers: str | Path | Sequence[str | Path] = "",
    revision: str = "",
    mode: str = "record",
    limit: int = 0,
    seed: int = 0,
    budget_usd: float | None = None,
    labels: str | Path = "",
    repeats: int = 1,
    temperature: float = 0,
    criteria: str = "",
) -> results.Study | None:
    """Put own questions to models, have a judge grade the answers, and write the study's page.

    What `make study` does and leaves, from a script or a notebook.

    questions: a file, a DataFrame with the same columns (item, question; reference, group, unit,
        system), or a data set of the Hugging Face hub. Paths are from the working folder, or else
        from the repository's root.
    models: names of data/models.toml, as a list or "a b".
    judge: one such name, or several, each of which grades alone; None: nothing is graded.
    name: of the study; by default the file's name, or of a DataFrame one made from its questions.
    rubric: a template that says how to grade, in place of data/prompts/own/judge.j2; or a file of
        criteria with points (.csv, .jsonl, .md).
    answers: a file of answers made elsewhere (item, model, answer), a log of Inspect, a folder of
        logs, or several of these, to be judged.
    revision: of a data set of the hub.
    mode: record asks for what isn't recorded; replay asks nobody; fresh asks for everything; plan
        prints what the calls would cost, and gives None.
    limit: only the first so many questions; 0: all. seed: of everything that uses chance.
    budget_usd: where calls stop; None: nowhere.
    labels: a file of labels made elsewhere, which measure the judges.
    repeats: how often each question is asked; temperature: of the answers.
    criteria: "together" (a judge is asked about all criteria of an answer at once, the default for
        new studies with three and more) or "each".

    Raises BedsideError for any fault of what is given, before anything is asked.
    """
    choose(mode, MODES[:4], "mode")
    if not isinstance(answers, str | Path):
        answers = shlex.join(map(str, answers))
    models, judge = (
        names if isinstance(names, str) else " ".join(names) for names in (models, judge or "")
    )
    given = {"questions": questions, "models": models, "judge": judge, "name": name, "mode": mode}
    given |= {"rubric": str(rubric), "answers": str(answers), "revision": revision}
    given |= {"limit": limit, "seed": seed, "labels": str(labels), "criteria": criteria}
    # as make leaves them out where they aren't given
    given |= {"repeats": repeats if repeats != 1 else "", "temperature": temperature or ""}
    own, given = begun(given | {"budget_usd": "" if budget_usd is None else budget_usd})
    if mode == "plan":
        return plan(own)
    execute(own, given)
    return results.opened(own)


def tell(own: Own) -> None:
    """Print the scores and the path of the page."""
    scores = own.folder / "table_scores.md"
    none = "Nothing was graded, since no judge was named (JUDGE=name)."
    print(scores.read_text(encoding="utf-8") if own.judge else none)
    print(f"Open {paths.rel(own.folder / 'index.html')}")
