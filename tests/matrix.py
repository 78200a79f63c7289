"""Any notebook with any kind of model, in this process: no kernel, no endpoint.

    house = House(monkeypatch, tmp_path)
    house.run("radiation/02_free_form", profile="sample", mode="record", models="fake-refusal")

A fake model of the registry stands for a kind of text (FAKES); what it says is recorded and read as
any other model's. Bundled recordings are copied, and what calls the embedded model fails, unless
the run names it; then a fake speaks for it. Outputs, recordings and ledger are the house's own.
"""

import ast
import asyncio
import contextlib
import functools
import inspect
import io
import json
import linecache
import shutil
from pathlib import Path

import openai
import pandas as pd

from bedside.asking import embedded, registry, sending
from bedside.asking.replies import as_record
from bedside.build import notebooks, settings
from bedside.read import paths, sources
from bedside.read.checks import normal
from bedside.read.surroundings import here
from bedside.write import plots
from conftest import completion
from provider_words import said

EMBEDDED = "smollm2-135m"
PROFILES = ("sample", "public")

# ---- what the fakes say: text, or what else a completion may hold

SENTENCE = "Please ask the people who treat you about this at your next visit."
NO = "I'm sorry, but I can't help with that."
LISTED = "- fatigue\n- skin redness\n- swelling of the arm\n- a cough that stays\n- chest pain\n"
MARKUP = """<script>alert("x")</script><b>bold & <i>open</b> ]]> <!-- --> {{ 7 * 7 }} {% raw %}
| a | b | \\| **c** | `d` |
- =HYPERLINK("http://127.0.0.1") | \\textbf{x}_1^2 $\\frac{1}{0$ %s {0}
- @SUM(A1) \\u0000 \\ <td> \ud800 alone \udfff
- #REF! & ~ ^ "quoted", 'single' \t tab\x00\x1b[31m \u202e turned
> score: 1
```json
{"score": "<b>1</b>", "answer": ["|", "\\\\"]}
```"""
LONG = "\n".join(f"{i}. side effect number {i} of many" for i in range(200)) + "\nword" * 3000


def right(request):
    """The right answer where the data have one, else one of the form that is asked for."""
    form = request.response_format
    if form:
        return json.dumps(best(form["json_schema"]["schema"], request))
    return known().get(request.item.partition("/")[0]) or said(request.body())[0]


def best(schema, request):
    """The best that a schema allows: grade 1, the correction, the first option, equal terms."""
    if "enum" in schema:
        return 1 if 1 in schema["enum"] else schema["enum"][0]
    if schema["type"] == "object":
        if "matches" in schema["properties"]:
            return {"matches": equal_terms(request.messages[-1]["content"])}
        return {k: best(s, request) for k, s in schema["properties"].items()}
    if schema["type"] == "array":
        return [best(schema["items"], request) for _ in range(schema.get("minItems", 1))]
    return known().get(request.item, SENTENCE) if schema["type"] == "string" else 1


def equal_terms(text):
    """The entries that two numbered lists of a prompt share; the reference comes first."""
    first, second, at = {}, {}, {}
    for line in text.splitlines():
        number, dot, entry = line.partition(". ")
        if dot and number.isdigit():
            at = second if number == "1" and first else at or first
            at.setdefault(normal(entry), int(number))
    return [{"predicted": second[t], "reference": n} for t, n in first.items() if t in second]


@functools.cache
def known():
    """{item: right answer}: corrections, references, diagnoses, as far as data are here."""
    found = {}
    for name, item, answer in (
        ("cancer_myth_questions_sample", "item", "correction"),
        ("cancer_myth_released", "QID", "presupposition_correction"),
        ("meddialbench_cases_sample", "case", "diagnosis"),
    ):
        if name in sources.registry() and sources.here(name):
            profile = sources.registry()[name]["profiles"][-1]
            ((frame,), _) = sources.taken([name], profile)
            if {item, answer} <= set(frame):
                start = "cm-" if item == "QID" else ""
                found |= zip(start + frame[item].astype(str), frame[answer])
    ((effects,), _) = sources.taken(["radiation_reference_sample"], "sample")
    ((patients,), _) = sources.taken(["radiation_profiles_sample"], "sample")
    for r in patients.itertuples():
        mine = effects[effects["sites"].map(lambda sites, r=r: r.site in sites)]
        found[r.item] = "".join(f"- {e}\n" for e in mine["effect"])
    return found


def any_of(*said):
    """One of these for each request, the same one whenever it is asked."""
    return lambda r: said[int(r.key[:8], 16) % len(said)]


FAKES = {
    "sentence": lambda r: SENTENCE,
    "refusal": lambda r: NO,
    "refusal-field": lambda r: {"text": None, "refusal": NO},
    "list": lambda r: LISTED,
    "right": right,
    "fitting": lambda r: said(r.body())[0],  # what was asked for, in the form asked for
    "object": lambda r: '{"weather": {"today": ["sun", null, 3]}, "score": null}',
    "json": any_of("[" * 20_000 + "]" * 20_000, '[1, "two", {"three": 3}, [4], null]', "7", '"x"'),
    "nothing": any_of(
        " \n",
        {"text": "", "finish": "length"},  # cut off while thinking
        {"text": "", "finish": "content_filter"},
        {"text": SENTENCE, "finish": "content_filter"},
        {"text": None, "finish": "tool_calls", "tool_calls": [{"id": "a"}]},
    ),
    "long": lambda r: {"text": LONG, "finish": "length"},
    "markup": lambda r: MARKUP,
}
EACH = list(FAKES.values())
FAKES["random"] = lambda r: any_of(*EACH)(r)(r)


async def send(endpoint, request):
    """A fake's reply, in the place of `sending.send`."""
    name = "fitting" if request.model == EMBEDDED else request.model.removeprefix("fake-")
    says = FAKES[name](request)
    says = {"text": says} if isinstance(says, str) else says
    return as_record(request.kept(), completion(**says))


# ---- a place of its own for outputs and recordings


class House:
    """A folder that notebooks read recordings from and write to, as if it were the checkout's."""

    def __init__(self, patch, folder: Path):
        self.patch, self.folder = patch, folder
        self.cards = [paths.FIGURES / profile for profile in PROFILES]
        for name in FAKES:
            entry = {"provider": "test", "base_url": "http://127.0.0.1:9/v1", "model": name}
            entry |= {"max_concurrency": 64}
            patch.setitem(registry.entries(), f"fake-{name}", registry.as_model(name, entry))
        patch.setattr(sending, "send", send)
        # a client takes a tenth of a second, and isn't called; nor is the embedded model started
        patch.setattr(openai, "DefaultAioHttpClient", lambda **_: contextlib.AsyncExitStack())
        patch.setattr(embedded, "served", self._running)
        patch.setattr(paths, "RECORDINGS", folder / "recordings")
        patch.setattr(here, "ledger", str(folder / "ledger"))
        patch.setattr(here, "run", "matrix")
        copied(paths.DATA / "recordings", paths.RECORDINGS, "*.jsonl")
        self.to("figures")

    def to(self, name):
        """Let outputs go to another folder of the house, which holds all judges' cards."""
        self.figures = self.folder / name
        self.patch.setattr(here, "figures", str(self.figures))
        for folder in self.cards:
            copied(folder, self.figures / folder.name, "trust_*.json")

    def take(self, other, judge):
        """Take over what another house measured of a judge."""
        self.cards.append(other.figures / "runs")
        copied(other.folder / "recordings", paths.RECORDINGS, f"{judge}.jsonl")

    def run(self, name, /, pictures=None, until="", **given):
        """Run a notebook of the checkout; returns its variables. Raises what a cell raises.

        pictures: a folder of outputs to take pictures from, in the place of drawing them. until:
        end with the last cell that has this text, if one has.
        """

        def save(figure, path, title="", below="", narrow=None):
            for file in _pictures(path, narrow):
                shutil.copy(pictures / file.relative_to(self.figures), file)
            return plots.Picture(path.with_suffix(".png").read_bytes())

        shared = given.keys() & {*settings.NAMES}
        self.given = settings.validated(**{k: given[k] for k in shared})
        with self.patch.context() as patch:
            if pictures:
                patch.setattr(plots, "save", save)
            return asyncio.run(execute(name, given, until))

    def _running(self, name):
        assert name in self.given.models, "nobody named the embedded model"
        return "http://127.0.0.1:9/v1"

    def outputs(self):
        """{path: bytes} of all that notebooks wrote; of calls their lines, sorted."""
        files = (p for p in sorted(self.figures.rglob("*")) if p.is_file())
        return {p.relative_to(self.figures).as_posix(): _told(p) for p in files}


def undrawn(figure, path, title="", below="", narrow=None):
    """In the place of `plots.save`, where nobody looks at pictures: empty files."""
    for file in _pictures(path, narrow):
        file.touch()
    return plots.Picture(b"")


def _told(path):
    """A file's bytes; calls come back in any order, and equal ones for any of their items."""
    if not path.name.startswith("calls_"):
        return path.read_bytes()
    lines = map(json.loads, path.read_bytes().splitlines())
    return sorted(json.dumps({**line, "item": ""}) for line in lines)


def _pictures(path, narrow):
    return [path.with_suffix(f) for f in (".png", ".svg", *[".narrow.svg"] * bool(narrow))]


def copied(folder, to, pattern):
    for path in folder.rglob(pattern):
        mine = to / path.relative_to(folder)
        mine.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, mine)


def cells(name):
    path = paths.NOTEBOOKS / f"{name}.ipynb"
    return [c for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code"]


async def execute(name, given, until=""):
    """Run a notebook's code cells one after the other; what they show is made, and seen by none."""
    sources = ["".join(c["source"]) for c in cells(name)]
    end = max((k for k, text in enumerate(sources) if until in text), default=len(sources)) + 1
    space, said = {"__name__": "__main__", "display": show}, io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        for k, (cell, source) in enumerate(zip(cells(name)[:end], sources)):
            file = f"<{name}, code cell {k + 1}>"
            linecache.cache[file] = len(source), None, source.splitlines(True), file
            body = ast.parse(source, file).body
            last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
            await evaluated(ast.Module(body, []), file, space)
            if last:
                show(await evaluated(ast.Expression(last.value), file, space))
            if "parameters" in cell["metadata"].get("tags", []):
                space.update(notebooks.typed(name, given))
    said.getvalue().encode()  # as a kernel would send it
    return space


async def evaluated(tree, file, space):
    kind = "eval" if isinstance(tree, ast.Expression) else "exec"
    value = eval(compile(tree, file, kind, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), space)
    return await value if inspect.iscoroutine(value) else value


def show(*values):
    """What a notebook makes of values to show them: HTML; none is cut, and none a bare dict."""
    for value in values:
        html = getattr(value, "_repr_html_", None)
        ((html and html()) or repr(value)).encode()
        assert html or not isinstance(value, dict), value
        if type(value) in (pd.DataFrame, pd.Series):
            texts = [v for v in value.to_numpy().ravel() if isinstance(v, str)]
            assert all(len(v) < pd.options.display.max_colwidth for v in texts), texts


def lacking(name, profile):
    """The sources of a notebook's study that a profile needs and that aren't here."""
    mine = {
        n: e
        for n, e in sources.registry().items()
        if e["paper"] == name.partition("/")[0] and profile in e["profiles"]
    }
    return [n for n, e in mine.items() if not (e.get("optional") or sources.here(n))]
