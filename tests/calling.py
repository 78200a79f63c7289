"""What promises of calls share: a checkout of its own, models at an endpoint, ways to ask them.

Promises use what a user has: `bedside.ask`, `bedside.Run`, commands, files. What else they need to
know of the library stands here, and nowhere else.
"""

import asyncio
import contextlib
import copy
import io
import itertools
import json
import multiprocessing
import re
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from tqdm import tqdm

import bedside
from bedside import BedsideError
from bedside import __main__ as commands
from bedside.asking import batches, budget, registry, sending
from bedside.asking.replies import Request
from bedside.read import paths
from bedside.read.surroundings import here

KEY = "made-up-7f3a9c55e1-of-a-test"
OWN = ("models.toml", "recordings", "external")  # of data/: the others are the checkout's
COUNT = itertools.count()


def toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value) if isinstance(value, str | bool) else repr(value)


def placed(folder, patch):
    """Let a folder be the checkout, with the data, notebooks and prompts of this one."""
    data = folder / "data"
    if not data.is_dir():
        data.mkdir(parents=True)
        for path in (paths.ROOT / "data").iterdir():
            if path.name not in OWN:
                (data / path.name).symlink_to(path)
        (folder / "notebooks").symlink_to(paths.ROOT / "notebooks")
    patch.setattr(paths, "DATA", data)
    patch.setattr(paths, "RECORDINGS", data / "recordings")
    patch.setattr(paths, "EXTERNAL", data / "external")
    patch.setattr(paths, "BATCHES", folder / "batches")
    patch.setattr(here, "figures", str(folder / "figures"))
    patch.setattr(here, "ledger", str(folder / "ledger"))
    registry._read.cache_clear()


def hurried(patch):
    """Let pauses after a fault be short."""
    for name in ("PAUSE_S", "LONGEST_PAUSE_S", "FIRST_S", "LONGEST_S"):
        patch.setattr(sending, name, 0.002)


class World:
    """A checkout whose models stand at an endpoint."""

    def __init__(self, folder, patch, endpoint):
        self.folder, self.patch, self.endpoint, self.entries = folder, patch, endpoint, {}
        patch.setenv("TEST_KEY", KEY)
        placed(folder, patch)
        hurried(patch)
        self.model()

    def model(self, name="mine", **fields):
        """Write a model's entry; what it had stays, None takes a field out. Its name."""
        usual = {"provider": "test", "base_url": self.endpoint.url, "model": "asked-2026-01-01"}
        usual |= {"max_concurrency": 4, "timeout_s": 60}
        made = {**usual, **self.entries.get(name, {}), **fields}
        self.entries[name] = {k: v for k, v in made.items() if v is not None}
        text = (paths.ROOT / "data/models.toml").read_text(encoding="utf-8")
        for each, entry in self.entries.items():
            lines = [f"{k} = {toml(v)}" for k, v in entry.items()]
            text += "\n".join([f"\n[{json.dumps(each)}]", *lines]) + "\n"
        self.write_models(text)
        return name

    def write_models(self, content):
        """Let entries be those of a text, as of another process."""
        content = content if isinstance(content, bytes) else content.encode()
        (self.folder / "data/models.toml").write_bytes(content)
        registry._read.cache_clear()

    def elsewhere(self, name):
        """The same models in a checkout of its own, with a make of its own."""
        placed(self.folder.parent / f"{self.folder.name}-{name}", self.patch)
        other = SimpleNamespace(folder=paths.DATA.parent)
        (other.folder / "data/models.toml").write_text(
            (self.folder / "data/models.toml").read_text(encoding="utf-8"), encoding="utf-8"
        )
        self.folder = other.folder
        self.another_make()

    def another_make(self):
        self.patch.setattr(here, "make", f"make {next(COUNT)}")

    # ---- ways to ask

    def ask(self, *items, models="mine", **how):
        """Rows of `bedside.ask`: of a dict of prompts, or of items that are asked about."""
        one = items and isinstance(items[0], dict)
        prompts = items[0] if one else {str(i): f"question {i}" for i in items}
        with contextlib.redirect_stderr(io.StringIO()):
            frame = bedside.ask(prompts, models, **{"mode": "record", "max_tokens": 20, **how})
        return list(frame.itertuples(index=False))

    def run(self, notebook="03_evaluation", **given):
        """A notebook's Run."""
        return bedside.Run("cancer_myth", notebook, **{"mode": "record", "models": "mine", **given})

    def talk(self, *tasks, **given):
        """What tasks give, each a function of `one`, by which requests follow from replies."""

        async def main():
            async with self.run(**given).asking("talk") as one:
                return await asyncio.gather(*(task(one) for task in tasks))

        with contextlib.redirect_stderr(io.StringIO()):
            return asyncio.run(main())

    def command(self, *words):
        """What a step of `python -m bedside` prints, in this process; its error is raised."""
        printed, told = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(told):
            try:
                commands.main(list(words))
            except SystemExit:
                raise BedsideError(told.getvalue()) from None
        return printed.getvalue()

    def request_file(self, prompts, max_tokens=20, **more):
        """The lines that a notebook's batch would send for these prompts, and their items."""
        run = self.run(mode="plan", **more)
        asked = [
            request(i, p, name, max_tokens=max_tokens)
            for name in run.models
            for i, p in prompts.items()
        ]
        made = batches.write([batches.row(r, run.recordings) for r in asked], "sample")
        self.made = [m.lines for m in made]  # of each file
        lines = [x for m in made for x in Path(m.path).read_text("utf-8").split("\n")[:-1]]
        return [json.loads(x) for x in lines]

    def collect(self, lines):
        """What `collect` prints of lines of results."""
        path = self.folder / "results.jsonl"
        content = (x if isinstance(x, bytes) else json.dumps(x).encode() for x in lines)
        path.write_bytes(b"".join(x + b"\n" for x in content))
        return self.command("collect", str(path))

    def start(self, items, **how):
        """A process of its own that asks; to be waited for, or killed."""
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__, "openai", "aiohttp"])
        given = str(self.folder), here.make, list(map(str, items)), how
        process = context.Process(target=_asking, args=given)
        process.start()
        return process

    def retries(self, count):
        """How often a call is tried again whose failure may pass."""
        self.patch.setattr(sending, "RETRIES", count)

    def second(self, seconds):
        """Let a second's pause after a refusal take so long, and longer ones in proportion."""
        self.patch.setattr(sending, "PAUSE_S", 4 * seconds)
        self.patch.setattr(sending, "LONGEST_PAUSE_S", 32 * seconds)

    # ---- what came of it

    @property
    def files(self):
        return [p for p in self.folder.rglob("*") if p.is_file() and not p.is_symlink()]

    def recordings(self):
        return sorted((self.folder / "data/recordings").rglob("*.jsonl"))

    def recorded(self):
        """All recordings, as their files have them."""
        return [json.loads(x) for p in self.recordings() for x in p.read_bytes().splitlines()]

    def spent(self):
        """USD that this make has spent, as far as the budgets know."""
        return budget.spent()


def _asking(folder, make, items, how):
    tqdm.set_lock(threading.RLock())  # its own is a semaphore, which a kill would leave behind
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEST_KEY", KEY)
        placed(Path(folder), patch)
        hurried(patch)
        patch.setattr(here, "make", make)
        prompts = {i: f"question {i}" for i in items}
        return bedside.ask(prompts, "mine", **{"mode": "record", "max_tokens": 20, **how})


NONSENSE = ["", "²", "9" * 5000, "\ud800", "\x1b[2J", [], {}, [[1]], {"a": None}, None, True]
NONSENSE += [0, -1, 0.5, 10**400, 1e308, float("nan"), float("inf"), {"message": ["x"], "code": {}}]


def spoilt(whole, rng):
    """A value with one to three parts of it replaced by nonsense."""
    box = [json.loads(json.dumps(whole))]
    for _ in range(rng.randint(1, 3)):
        place, key = box, 0
        while place[key] and isinstance(place[key], dict | list) and rng.random() > 0.2:
            place = place[key]
            key = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
        place[key] = copy.deepcopy(rng.choice(NONSENSE))
    return box[0]


def request(item, prompt, model="mine", form=None, repeat=0, **settings):
    """A request, as notebooks make it."""
    prompt = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
    return Request(item, model, prompt, {"temperature": 0, **settings}, form, repeat)


def result(line, status, body, error=None):
    """The line of results for a line of a request file; status None: without a response."""
    response = {"status_code": status, "request_id": "r", "body": body} if status else None
    return {"id": "b", "custom_id": line["custom_id"], "response": response, "error": error}


def answered_in_batches(waiting, answer):
    """Have all that waits answered by request files, round after round; what ended a notebook.

    waiting: as of `rounds.waiting`; answer: of a body, a completion or (status, error).
    """
    for _ in range(60):
        run, rows, fault, _ = waiting()
        if not (files := batches.write(rows, run)):
            return fault
        place = paths.BATCHES / "results.jsonl"
        lines = [json.loads(x) for f in files for x in f.path.read_bytes().splitlines()]
        made = [(x, answer(x["body"])) for x in lines]
        made = [result(x, *(m if isinstance(m, tuple) else (200, m))) for x, m in reversed(made)]
        place.write_text("\n".join(map(json.dumps, made)), encoding="utf-8")
        batches.collect(place)
    raise AssertionError("it goes round in circles")


def failed(printed):
    """{item: kind} of what `collect` says of failures."""
    found = re.findall(r"^  ([^:]+): mine, ([\w -]+): ", printed, re.M)
    return {item: kind for kind, item in found}


def fields_of_entries():
    """What an entry of data/models.toml may say."""
    return {*registry.Model.__struct_fields__}


def sent(made):
    """The body of a request as it is sent."""
    return registry.model(made.model).filled(made.body())


def price(model, *tokens, batch=False):
    """USD of a call of so many tokens, which is also what is reserved for it."""
    return registry.cost(model, *tokens, batch=batch)


@pytest.fixture
def world(tmp_path, monkeypatch, endpoint):
    """A checkout of its own, with the model 'mine' at a scripted endpoint."""
    (tmp_path / "checkout").mkdir()
    yield World(tmp_path / "checkout", monkeypatch, endpoint)
    monkeypatch.undo()
    registry._read.cache_clear()
