"""Plans: which calls notebooks would make, with their tokens at most and as expected.

Nothing is called and no result written: of each notebook only the cells up to its last question
are run, here, with stand-ins for replies that aren't there.
"""

import ast
import asyncio
import contextlib
import functools
import inspect
import io
import multiprocessing
import signal
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from typing import TYPE_CHECKING

from bedside import BedsideError
from bedside.asking import dry_run, registry, store, usage
from bedside.asking.replies import UNLIMITED, Request
from bedside.read import outside, paths
from bedside.read.surroundings import within

from . import notebooks

if TYPE_CHECKING:
    import pandas as pd

ENOUGH = 5  # similar replies needed to expect the length of the next ones
WHOLE = 0.9  # the share of replies to end by themselves: of fewer, these would be the short ones
THOUGHTS = 1 / 8  # of the room for them, where none of a model's replies is known
SPACED = 2  # how much longer JSON is than it need be, as a model may write it


def planned(given: dict, paper: str = "") -> "pd.DataFrame":
    """The calls of all notebooks, or a study's, without a recording, as a frame; see `expected`.

    Later steps assume replies of full length. A call that several notebooks make counts for the
    first of them, since its reply is then recorded. Also a column `adaptive`: the notebook's step
    that depends on earlier replies, so that its calls are a bound.
    """
    import pandas  # noqa: F401, so that each process has it

    found = {}
    with tempfile.TemporaryDirectory() as tmp, within(figures=tmp), at_once() as pool:
        for rows in pool.map(functools.partial(_notebook, given), notebooks.listed(paper)):
            found = rows | found
    calls = expected(list(found.values()))
    adaptive = {
        f"{study}/{notebook}": step
        for study, entry in paths.papers().items()
        for notebook, step in entry.get("adaptive", {}).items()
    }
    return calls.assign(adaptive=[adaptive.get(name, "") for name in calls["notebook"]])


def at_once() -> Executor:
    """Forked processes, which Ctrl-C ends without a word; libraries survive a fork on Linux."""
    if sys.platform != "linux":
        return ThreadPoolExecutor(1)
    fork, ends = multiprocessing.get_context("fork"), (signal.SIGINT, signal.SIG_DFL)
    return ProcessPoolExecutor(mp_context=fork, initializer=signal.signal, initargs=ends)


def _notebook(given, name):
    """{key: row} of the calls of a notebook."""
    execute(name, {**given, "mode": "plan"}, space := {})
    return {request.key: _row(name, request) for request in requests(space)}


def requests(space: dict) -> list[Request]:
    """What the notebook that ran in this space would ask, as far as it came."""
    return space["run"].planned() if "run" in space else []


def execute(name: str, given: dict, space: dict) -> None:
    """Run a notebook's cells up to its last question, with parameters, in a space of names."""
    with contextlib.redirect_stdout(io.StringIO()):
        asyncio.run(_execute(name, given, space))


async def _execute(name, given, space):
    cells = [c for c in notebooks.cells(name) if c["cell_type"] == "code"]
    texts = ["".join(c["source"]) for c in cells]
    space |= {"__name__": "__main__", "display": lambda *_: None}
    last = max((k for k, text in enumerate(texts) if "await" in text), default=-1)
    for k, text in enumerate(texts[: last + 1]):
        try:
            tree = ast.parse(text)  # what is kept asks nothing new
            tree.body = [s for s in tree.body if "run.keep(" not in ast.unparse(s)]
            code = compile(tree, f"<{name} {k}>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            if inspect.iscoroutine(result := eval(code, space)):
                await result
        except BedsideError:
            raise
        except Exception as e:
            where = f"notebooks/{name}.ipynb can't be planned: its code cell {k + 1} raises"
            raise BedsideError(f"{where} {type(e).__name__}: {e}") from e
        if "parameters" in cells[k]["metadata"].get("tags", []):
            space.update(notebooks.typed(name, given))


def _row(name, request):
    prompt, completion = request.estimate()
    form = {k: v for k, v in request.fields.items() if k == "response_format"}
    return {
        "notebook": name,
        "model": request.model,
        "form": store.redacted(form).get("response_format") or "",
        "prompt": prompt,
        "completion": completion,
        "limit": completion,
        "chars": request.chars,
        "key": request.key,
        "held": dry_run.held(m["content"] for m in request.messages),
        "stated": dry_run.stated(request.response_format) if request.response_format else None,
    }


def of_study(study: str, requests: Iterable[Request], texts: Iterable[str] = ()) -> "pd.DataFrame":
    """The frame of these calls; see `expected`."""
    return expected([_row(f"{study}/", r) for r in requests], texts)


def expected(rows: list[dict], texts: Iterable[str] = ()) -> "pd.DataFrame":
    """Planned calls: notebook, model, prompt and completion (tokens at most), and as expected.

    expected_completion: the mean over the model's own replies in the same study under the same
    limit and form. While it has too few: a verdict is as long as its form; another text as `texts`,
    answers to such questions; else as the replies of any model to the same form in the study, or
    of all studies for text without a form. Of these only what ended by itself counts, and only
    where nearly all did; a share of its room is added for a model's thoughts. Missing without such
    replies. expected_prompt: by the characters sent, with replies that aren't there yet as long as
    expected. Never more than the most, which is raised where an endpoint has passed its limit
    before. lent: whether it isn't by the model's own replies.
    """
    import pandas as pd

    columns = ["notebook", "model", "form", "prompt", "completion", "limit", "chars"]
    columns += ["key", "held", "stated"]
    calls, replies = pd.DataFrame(rows, columns=columns), _recorded()
    calls["study"] = [name.partition("/")[0] for name in calls["notebook"]]

    def matched(grouped, by):
        return grouped.reindex(pd.MultiIndex.from_frame(calls[by])).set_axis(calls.index)

    def mean_length(of, by):
        found = of.groupby(by)["completion_tokens"].agg(["mean", "size"])
        return matched(found["mean"].where(found["size"] >= ENOUGH), by)

    def of_texts(length):
        return pd.Series(length, calls.index, float).where(calls["form"] == "")

    same, alike = ["model", "study", "form", "limit"], ["study", "form"]
    whole = replies["ended"] & (replies.groupby(same)["ended"].transform("mean") >= WHOLE)
    whole = replies[whole]
    tokens = replies.groupby("model")[["prompt_tokens", "chars"]].sum()
    tokens.loc["any"] = tokens.sum()
    per_char = tokens["prompt_tokens"] / tokens["chars"].where(tokens["chars"] > 0)
    rate = calls["model"].map(per_char).fillna(per_char["any"])
    others = calls["stated"].astype(float) * SPACED * rate
    brought = pd.Series([len(text) for text in texts if text], dtype=float).mean()
    free = whole[whole["form"] == ""]["completion_tokens"]
    for length in (
        of_texts(brought * per_char["any"]),
        mean_length(whole, alike),
        of_texts(free.mean() if len(free) >= ENOUGH else None),
    ):
        others = others.fillna(length)
    own = mean_length(replies, same)
    longest = matched(replies.groupby(same)["completion_tokens"].max(), same)
    calls["completion"] = calls["completion"].clip(lower=longest.fillna(0))
    calls["lent"] = own.isna() & others.notna()
    room = calls["model"].map(lambda name: registry.model(name).reasoning_tokens).astype(float)
    length = own.fillna(others + THOUGHTS * room).clip(upper=calls["completion"])
    calls["expected_completion"] = length
    texts = dict(zip(calls["key"].str[: dry_run.NAMED], own.fillna(others)))
    known = {name: tokens for name, tokens in texts.items() if tokens == tokens}
    held = calls["held"].map(lambda parts: [part for part in parts if part[0] in known])
    waiting = held.map(lambda parts: sum(chars for _, chars in parts))
    prompt = (calls["chars"] - waiting) * rate
    prompt += held.map(lambda parts: sum(known[name] for name, _ in parts))
    calls["expected_prompt"] = prompt.clip(upper=calls["prompt"])
    return calls


def costs(calls: "pd.DataFrame", batch: bool = False) -> tuple[float | None, float | None, int]:
    """(expected, at most, of how many calls the first is) of planned calls; USD, None if unknown.

    batch: in batches. What is expected is the cost of those calls alone whose length is.
    """

    def usd(some, prompt, completion):
        sums = some.groupby("model")[[prompt, completion]].sum().astype(float)
        return registry.total(registry.cost(*row, batch=batch) for row in sums.itertuples())

    local = calls["model"].map(registry.is_embedded).astype(bool)
    known = calls[calls["expected_completion"].notna() | local]
    expected = usd(known, "expected_prompt", "expected_completion")
    most = usd(calls, "prompt", "completion")
    return (expected if len(known) or not len(calls) else None), most, len(known)


def told(calls: "pd.DataFrame", batch: bool = False) -> str:
    """What planned calls cost, in words."""
    expected, most, known = costs(calls, batch)
    part = "" if known in (0, len(calls)) else f" for {known} of them"
    return f"expected {usd(expected)}{part}, upper bound {usd(most)}"


def usd(price: float | None) -> str:
    return "unknown" if price is None else f"${price:.2f}"


def notes(calls: "pd.DataFrame") -> Iterable[str]:
    """On what expected costs rest, and what the bound is."""
    if len(lent := calls[calls["lent"]]["model"].unique()):
        room = any(registry.model(model).reasoning_tokens for model in lent)
        thoughts = ", with an eighth of its room for thoughts" * room
        yield f"expected of {', '.join(lent)}: by the length of similar texts{thoughts}"
    if len(calls):
        yield "upper bound: if every reply were as long as its limit, which few are"


def _recorded():
    """All recorded replies: model, study, form and limit, their tokens, characters sent, ended."""
    import pandas as pd

    names = {paths.file_name(name): name for name in registry.entries()}
    rows = []
    for path in paths.RECORDINGS.rglob("*.jsonl"):
        study, model = path.relative_to(paths.RECORDINGS).parts[0], names.get(path.stem, path.stem)
        for line in path.read_bytes().splitlines():
            try:
                r = outside.parsed(line)
                outside.fitted(r, store.Record)
            except ValueError:
                continue  # a line that a crash cut short
            f, (prompt, completion, *_) = r["fields"], usage.used(r)
            limit = next((v for k, v in f.items() if k.startswith("max_")), UNLIMITED)
            counted = (prompt, r["chars"]) if prompt and r.get("chars") else (None, None)
            kind = model, study, f.get("response_format") or "", limit
            rows.append((*kind, completion, *counted, r["finish"] == "stop"))
    columns = ["model", "study", "form", "limit", "completion_tokens", "prompt_tokens", "chars"]
    replies = pd.DataFrame(rows, columns=[*columns, "ended"]).dropna(subset=["completion_tokens"])
    numbers = dict.fromkeys(columns[4:], float)
    return replies.astype({**numbers, "ended": bool})
