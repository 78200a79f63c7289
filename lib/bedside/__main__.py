"""python -m bedside: the steps that `make` calls, which also work without it.

`help` and `check` need the standard library only.
"""

import os
import sys


def _ended(kind, error, trace):
    """Ctrl-C, also while modules are imported, becomes a line on stderr and exit status 130."""
    if not issubclass(kind, KeyboardInterrupt):
        return sys.__excepthook__(kind, error, trace)
    told = "interrupted; every reply that came is recorded, and the same command continues"
    print(f"bedside: {told}", file=sys.stderr, flush=True)
    os._exit(130)  # threads with notebooks would otherwise run to their end


if __name__ == "__main__":
    sys.excepthook = _ended

import argparse
import asyncio
import contextlib
import json
import time
from pathlib import Path

from . import BedsideError, choose
from .asking import registry
from .build import commands, notebooks
from .read import paths
from .read.prompts import plain

# the variables that go into every notebook
OTHERS = (*notebooks.ONLY_SOME, "budget_total", "run")
PASSED = tuple(n for n in commands.taken("notebooks") if n.lower() not in OTHERS)


def help_():
    """Print make's commands and variables."""
    print(commands.help_text())


def variables(goals, names):
    """Print what is wrong with the variables that make is given for these goals, if anything is."""
    try:
        commands.check(goals.split(), names.split())
    except BedsideError as e:
        print(e)


def check(given, write=None):
    """Validate make's variables (NAME=value strings).

    Write them to a file if they changed since the last time.
    """
    from .build import settings
    from .read import questions
    from .write import frames

    pairs = dict(g.split("=", 1) for g in given)
    commands.check(["all"], pairs)
    given = {n.lower(): pairs[n] for n in commands.taken("notebooks") if pairs.get(n)}
    name = given.pop("run", "")
    settings.validated(**given)
    given = settings.entered(given, name)
    brought = settings.validated(answers=given.get("answers", ""))["answers"]
    if brought:
        questions.answer_rows(brought)  # raises its faults before anything runs
    given |= {"run": name} if name else {}
    text = json.dumps(given, indent=1) + "\n"
    if write:
        path = Path(write)
        path.parent.mkdir(parents=True, exist_ok=True)
        Path(f"{write}.started").touch()
        folder = settings.outputs(pairs.get("PROFILE") or "sample")
        paths.write(f"{write}.folder", paths.rel(folder))
        for done in frames.missing(folder):  # it has to run once more
            (path.parent / f"{done}.done").unlink(missing_ok=True)
        newer = brought and path.is_file() and _newer(brought, path)
        if newer or not path.is_file() or path.read_text() != text:
            paths.write(path, text)


def _newer(file, than):
    return Path(file).stat().st_mtime_ns > Path(than).stat().st_mtime_ns


def run(names, given, jobs=0, stamps=None, todo=None):
    """Execute notebooks, all if none is named, and print a line for each that is done.

    todo: files that list them, one on each line, in place of names; missing files are ignored.
    jobs: how many at once; 0: one for each core, but one after the other if models are called.
    stamps: a folder for an empty file <name>.done for each that is done.
    """
    from .asking import budget, progress
    from .build import settings
    from .publish import pages
    from .publish.pages import tell_calls

    if todo is None:
        names = [n.removeprefix("notebooks/").removesuffix(".ipynb") for n in names]
        names = names or notebooks.listed()
    else:
        names = [n for t in map(Path, todo) if t.is_file() for n in t.read_text().split()]
    settings.keep(given)
    own = {k: v for k, v in given.items() if k.upper() not in PASSED}  # not of every notebook
    taken = [notebooks.typed(n, own) for n in names] if own else ()
    for name in own if taken else ():
        if not any(name in mine for mine in taken):
            told = name.upper() if name in notebooks.ONLY_SOME else name
            print(f"{told} is for other notebooks; it changes nothing here")
    passed = []

    def done(name, seconds):
        passed.append(name)
        watch.write(f"[{len(passed):2} of {len(names)}] {name:45} {seconds:5.1f} s", name)
        if stamps:
            path = Path(stamps, f"{name}.done")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()

    calling = given.get("mode") in ("record", "fresh")
    _tell_whose(names, given)
    if calling:
        _fetch_weights(given)
        jobs = jobs or 1  # calls share an endpoint and its limits
        os.environ["BEDSIDE_LIVE"] = "1"
        budget.make()  # opens an account for the kernels: without make there is none
    try:
        with progress.Watch(names, calling) as watch:
            notebooks.run_all(names, given, jobs, done)
    except BedsideError:  # the pages say what is missing, with what there is
        folder = settings.outputs(given.get("profile", "sample"))
        if os.environ.get("BEDSIDE_RUN") and (folder / ".parts").is_dir():
            with contextlib.suppress(BedsideError):
                pages.merge(given.get("profile", "sample"))
        raise
    finally:
        if calling:
            tell_calls(settings.outputs(given.get("profile", "sample")))


def _fetch_weights(given):
    """Fetch the weights of embedded models that are named, where their progress is seen."""
    from .asking import embedded

    named = {*given.get("models", "").split(), given.get("judge")}
    for name in sorted(named & embedded.known().keys()):
        embedded.weights(name)


def _tell_whose(names, given):
    """Print whose texts go to the judge, before any do."""
    from .build import settings
    from .judging import judges

    taken = {k: v for k, v in given.items() if k in ("profile", "mode", "models", "judge")}
    run = settings.validated(**taken)
    for name in names:
        if line := judges.whose_texts_go(
            run["profile"], *name.split("/"), run["mode"], run["judge"]
        ):
            print(line, flush=True)


def record(paper, given):
    """Execute one paper's notebooks, or all, with MODE=record; then merge."""
    run(notebooks.listed(_study(paper)), {**given, "mode": "record"})
    index(given.get("profile", "sample"))


def index(profile, since=None):
    """Merge manifests, write claims and pages; print a summary of the run.

    since: a file that was touched when the run started.
    """
    from .build import settings
    from .publish import pages
    from .publish.pages import across, content
    from .read import claims

    local = settings.outputs(profile, private=True)
    apart = (local / ".parts").is_dir() and local != settings.outputs(profile)
    private = apart and pages.merge(profile, private=True)  # first, so that pages can link to it
    manifest = pages.merge(profile)
    content.write_notebooks(manifest, settings.outputs(profile))
    across.write(manifest, settings.outputs(profile))
    entries, folder = manifest["notebooks"].values(), paths.rel(settings.outputs(profile))
    print(
        f"{sum(len(e['outputs']) for e in entries)} outputs in {folder}"
        + (f"; {time.time() - Path(since).stat().st_mtime:.0f} s" if since else "")
    )
    counts = claims.tally(c for e in entries for c in e["claims"])
    for rank, told in zip(claims.WEIGHT, ("The papers' central claims:", "The papers' details:")):
        words = (TOLD[word][n != 1] for word, n in counts[rank].items())
        print(told, ", ".join(f"{n} {w}" for n, w in zip(counts[rank].values(), words)))
    if private:
        content.write_notebooks(private, local)
        count = sum(len(e["outputs"]) for e in private["notebooks"].values())
        place = f"{paths.rel(local)}/index.html"
        print(f"{count} outputs that rest on texts which stay on this machine: {place}")
    print(f"Open {folder}/index.html")


# verdicts on claims, of one and of several
TOLD = {
    "holds": ("holds", "hold"),
    "depends": ("depends on the reading", "depend on the reading"),
    "undetermined": ("is undetermined", "are undetermined"),
    "differs": ("differs", "differ"),
    "needs": ("needs data", "need data"),
    "not measured": ("was not measured", "were not measured"),
}


def explorer(given):
    """Write the failure explorer of what the notebooks of a profile or run kept.

    Of some studies alone if only these ran; the sample's page, which is committed, has them all.
    """
    from .annotation import raters
    from .build import settings
    from .explorer import write
    from .publish import judged_items
    from .publish.pages import ACROSS, pages

    apart = ("mode", "budget_usd", "budget_total")
    chosen = {k: v for k, v in given.items() if k not in apart}
    profile = chosen.get("profile") or settings.PROFILE
    folder = settings.outputs(profile, settings.changed(chosen))
    path, some = folder / "explorer.html", judged_items.here(**{**chosen, "profile": profile})
    if "papers" not in chosen and 0 < len(some) < len(paths.papers()):
        if folder == settings.figures() / settings.PROFILE:
            print(f"{paths.rel(path)} is as it was: it shows all studies, see `make explorer`")
            return
        chosen["papers"] = " ".join(some)
    content = raters.with_labels(judged_items.collect(**chosen))
    folder.mkdir(parents=True, exist_ok=True)
    write(path, content, pages(content["papers"], across=(folder / ACROSS).is_file()))
    local = settings.outputs(content["profile"], private=True)
    if local != folder and (local / "manifest.json").is_file():
        linked = {p: n for p, n in content["papers"].items() if (local / f"{p}.html").is_file()}
        write(local / path.name, content, pages(linked))
    size = path.stat().st_size / 1e6
    print(f"{len(content['rows'])} replies with their verdicts: {paths.rel(path)} ({size:.1f} MB)")


def site():
    """Write the pages of both profiles for a static host."""
    from .publish.pages import site

    print(f"Open {paths.rel(site.write(paths.ROOT / 'site'))}")


def seminar(profile, folder=None):
    """Write both editions of the seminar and the students' zip."""
    from .seminar import editions

    path = editions.build(folder, profile)
    here = paths.rel(path.parent)
    sheets = sorted((path.parent / "instructors").glob("*.ipynb"))
    print(f"{len(sheets)} sheets in {here}/students and {here}/instructors")
    print(f"  for the projector: {here}/instructors/*.html, without notes and solutions")
    print(f"  for you: {here}/instructors/*.ipynb, with notes and solutions (open with `make lab`)")
    print(f"  for students: {paths.rel(path)} ({path.stat().st_size / 1e6:.1f} MB)")
    if (page := path.parent / editions.demo.NAME).is_file():
        print(f"  fifteen minutes, without an installation: {paths.rel(page)}")


def class_(folder, names):
    """Write a page and a CSV of a class's results."""
    from .seminar import classroom, overview

    path, told = overview.write(folder or classroom.FOLDER, names)
    print(f"{told}. Open {paths.rel(path.resolve())}")


def data(profile, mirror, names=None):
    """Fetch and verify every source of a profile; go on after a failure and report all of them.

    names: a file that names the only sources to fetch.
    """
    from .read import sources

    failed = []
    for name in Path(names).read_text().split() if names else sources.used_by(profile):
        try:
            got = sources.fetch(name, mirror)
            place = sources.entry(name).get("file", "")
            yours = f" (optional{place and f'; yours to add as {place}'})"
            print(f"{got:8} {name}{yours if got == 'absent' else ''}")
            if rows := sources.differing(name):
                print(
                    f"         {len(rows)} rows differ from the copy on which the recordings rest:"
                    f" {', '.join(rows[:20])}{', ...' if len(rows) > 20 else ''}"
                )
        except sources.SourceError as e:
            missing = isinstance(e.__cause__, OSError)  # it could not be fetched
            if missing and sources.entry(name).get("optional"):
                print(f"absent   {name} (optional; claims that need it say so): {e}")
            else:
                failed.append(str(e))
    if failed:
        raise BedsideError("\n".join(failed))


def plan(given, paper=""):
    """Print calls, tokens and cost of all requests without a recording, without a call."""
    from .asking import registry

    calls = notebooks.planned(given, _study(paper))
    saved = any(registry.model(m).batch_discount for m in calls["model"].unique())
    ways = (False, True) if saved else (False,)
    print(
        f"{'notebook':38} {'model':24} {'calls':>7} {'prompt':>9} {'reply':>9}  expected   at most"
        + "  in batches: expected, at most" * saved
    )
    totals = [0.0] * 2 * len(ways)
    for (name, model), mine in calls.groupby(["notebook", "model"]):
        expected, most = ([tuple(map(float, x)) for x in mine[c].to_numpy()] for c in TOKENS)
        each = [
            registry.total(registry.cost(model, *_known(x), batch=way) for x in tokens)
            for way in ways
            for tokens in (expected, most)
        ]
        totals = [registry.total(both) for both in zip(totals, each)]
        usd = " ".join(f"{_usd(p):>9}" for p in each)
        prompt, reply = (sum(x) for x in zip(*most))
        print(f"{name:38} {model:24} {len(mine):7} {prompt:9.0f} {reply:9.0f} {usd}")
    expected, most, *batches = map(_usd, totals)
    told = f"; in batches expected {batches[0]}, at most {batches[1]}" if batches else ""
    print(f"{len(calls)} calls; expected {expected}, at most {most}{told}")
    if waves := int(calls["wave"].max()) if len(calls) else 0:
        print(f"`make batch` needs {waves} waves at most")
    if len(calls) and expected == "unknown":
        print("expected is known once some replies of each model are recorded and prices are set")
    adaptive = calls.drop_duplicates("notebook").query("adaptive != ''")
    for name, what in zip(adaptive["notebook"], adaptive["adaptive"]):
        print(f"{name}: {what} depends on earlier replies, so these numbers are bounds")
    for model in calls["model"].unique():
        if since := registry.model(model).price_date:
            print(f"price of {model}: as of {since}")
        try:
            registry.check_callable(model)
        except registry.StopRun as e:
            print(f"before this can run: {e}")


def _study(name):
    """`name` if it is a study's, or empty: a notebook's name would find nothing in silence."""
    return name and choose(name, paths.papers(), "study")


def _usd(price):
    return "unknown" if price is None else f"${price:.2f}"


TOKENS = ["expected_prompt", "expected_completion"], ["prompt", "completion"]


def _known(tokens):
    return [None if t != t else t for t in tokens]


def try_models(models):
    """Try models of the registry with a few calls each; BedsideError lists those not ready."""
    from .asking import registry
    from .own import try_out

    names = models.split()
    if not names:
        raise BedsideError('name the models to try: make try MODELS="a b"')
    for name in names:
        registry.named(name, "MODELS")  # check all names before the first call is paid
    lacking = [name for name in names if not asyncio.run(try_out.tried(name))]
    if lacking:
        raise BedsideError(f"not ready: {', '.join(lacking)}")


def verify(profile):
    """Rebuild a profile and compare it with the committed outputs."""
    from .explorer import read
    from .publish import verification

    verification.verify(profile, (explorer, read))


def outputs():
    """Write what of README.md and docs/api.md is made: findings, outputs, names of the library."""
    from .publish import api, readme

    print(f"wrote the table of outputs to {paths.rel(readme.write())}")
    print(f"wrote the names of `import bedside` to {paths.rel(api.write())}")


def letter(profile):
    """Write a report on each study for its authors, from the claims of a profile's last run."""
    from .publish import letters

    for path in letters.write(profile):
        print(f"{paths.rel(path)} and .html")


def latex(profile):
    """Write each table of a profile's last run as LaTeX, beside its CSV."""
    from .build import settings
    from .publish import pages
    from .publish.pages import content

    folder = settings.outputs(profile)
    count = content.write_latex(pages.last(folder), folder)
    print(f"{count} tables as .tex in {paths.rel(folder)}; they need the package booktabs")


def serve(model):
    """Serve an embedded model in the foreground, by llama.cpp's OpenAI-compatible interface."""
    from .asking import embedded, registry

    with embedded.running(model) as url:
        served = registry.model(model).model
        print(f"{url} (OpenAI-compatible; model {served}; end with Ctrl-C)", flush=True)
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            print()


def doctor():
    """Print what this checkout has and lacks: Python, packages, weights, data, recordings."""
    import importlib.metadata

    from .asking import budget, embedded, store
    from .read import sources

    print(f"Python {sys.version.split()[0]} at {sys.prefix}")
    for package in ("papermill", "openai", "pandas", "matplotlib", "scikit-learn", "xllamacpp"):
        try:
            print(f"  {package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            print(f"  {package} missing; install it with `make setup`")
    for name, m in embedded.known().items():
        there = embedded.place(name).is_file()
        told = "present" if there else f"fetched when first needed ({m['fetched_mb']:,} MB)"
        print(f"weights of the embedded model {name}: {told}")
    for name in sources.registry():
        try:
            sources.verified(name)
            print(f"source {name}: present and verified")
        except sources.SourceError as e:
            print(f"source {name}: {e}")
    for folder in sorted({p.parent for p in paths.RECORDINGS.rglob("*.jsonl")}):
        kept = store.Recordings(folder)
        count = sum(1 for _ in kept.records())
        print(f"recordings {paths.rel(folder)}: {count} replies")
        try:
            print(f"  {kept.check() or 'all can be read'}")
        except store.StoreError as e:
            print(f"  {e}")
    if told := budget.mended():
        print(told)
    for name, m in registry.entries().items():
        if variable := m.api_key_env:
            state = "set" if os.environ.get(variable) else "not set"
            print(f"model {name}: key in {variable} {state}")
    for told in registry.faulty().values():
        print(told)


def study(given):
    """Put a user's own questions to models, or show what changed between two such runs.

    given: NAME=value strings.
    """
    from .own import steps

    given = _of_study(given, "study")
    if compared := given.pop("compare", ""):
        return steps.compare(compared)
    mine, given = steps.begun(given)
    if mine.mode == "plan":
        return steps.plan(mine)
    steps.execute(mine, given)
    steps.tell(mine)


def compare(runs):
    """Write a page on the models of several runs, beside each other.

    runs: names of folders in figures/runs, or profiles.
    """
    from .build import settings
    from .publish.pages import models

    names = list(dict.fromkeys(runs.split()))
    if len(names) < 2:
        raise BedsideError('name two runs or more: make compare RUNS="a b"')
    folder = settings.figures() / "compared" / settings.short("+".join(names))
    print(f"Open {paths.rel(models.write_compared(folder, names))}")


def numbers(source):
    """Check a file of printed numbers and write its page; `new` writes a template of the file."""
    from . import checking

    if not source:
        raise BedsideError(
            "name the file of printed numbers: make check NUMBERS=mine.csv"
            " (NUMBERS=new writes a template; to try it, take data/sample/check/six_lines.csv)"
        )
    if source == "new":
        made = checking.template()
        return print(
            f"{made} has a row of every kind: put yours in, then make check NUMBERS={made}"
        )
    path, told = checking.write(source)
    print(f"{told}. Open {paths.rel(path)}")


def _of_study(given, target):
    pairs = dict(g.partition("=")[::2] for g in given)
    valid = [n for n in commands.taken("study") if n in commands.taken(target)]
    for name in pairs:
        choose(name, valid, f"variable of make {target}")
    return {n.lower(): value for n, value in pairs.items() if value}


def annotate(given):
    """Write a page for each of several raters, or take in what they send back.

    given: NAME=value strings.
    """
    from . import annotation

    annotation.handed.by_make({n.lower(): v for n, _, v in (g.partition("=") for g in given) if v})


def batch(given, own=(), submit=False, paper=""):
    """Write request files of what can be asked now, or send it and record the results, to the end.

    own: NAME=value strings, as for study, for own questions in place of the notebooks.
    """
    from .asking import budget, submitting
    from .build import rounds

    _study(paper)
    budget.make()  # opens an account for everything sent from here
    if own:
        from .own import steps

        study = steps.Questions(_of_study(own, "batch"))
    else:
        _tell_whose(notebooks.listed(paper), {**given, "mode": "record"})
        study = rounds.Notebooks(given, paper)
    return submitting.submit(study) if submit else submitting.tell(study)


def collect(place):
    """Record the results of request files: one file, or all files of a folder."""
    from .asking import batches

    if not place:
        raise BedsideError("name the file or folder of results: make collect FROM=results.jsonl")
    for line in batches.collect(batches.results(place)).told():
        print(line)


def new(name):
    """Begin a study: copy `templates/paper` into place."""
    from .build import template

    for path in template.begin(name):
        print(paths.rel(path))


def _arguments():
    """The parser of all steps; `step` is a step's function, called with its arguments by name."""
    parser = argparse.ArgumentParser(
        prog="python -m bedside", description="Bedside's steps, as make calls them."
    )
    steps = parser.add_subparsers(required=True, metavar="STEP")

    def step(function, text, *, settings=False):
        p = steps.add_parser(function.__name__.partition("_")[0], help=text)
        p.set_defaults(step=function)
        if settings:
            p.add_argument("--file", help="parameters as JSON")
            p.add_argument(
                "-p", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"), dest="pairs"
            )
        return p

    step(help_, "print make's commands and variables")
    p = step(variables, "print which of make's variables is unknown, or not for its goals")
    p.add_argument("--goals", default="")
    p.add_argument("--names", default="")
    p = step(check, "validate make's variables")
    p.add_argument("given", nargs="*")
    p.add_argument("--write")
    p = step(run, "execute notebooks (all without a name)", settings=True)
    p.add_argument("names", nargs="*", metavar="NAME")
    p.add_argument("--jobs", type=int, default=0, help="how many at once; 0: one for each core")
    p.add_argument("--stamps", help="a folder for a stamp of each notebook that is done")
    p.add_argument("--todo", nargs="+", help="files that list the notebooks, one on each line")
    for function, text in (
        (plan, "print calls, tokens and cost before anything is spent"),
        (record, "run with MODE=record"),
    ):
        step(function, text, settings=True).add_argument("paper", nargs="?", default="")
    step(explorer, "write the failure explorer", settings=True)
    step(site, "write the pages of both profiles for a static host")
    p = step(seminar, "write both editions of the seminar and the students' zip")
    p.add_argument("--profile", default="sample")
    p.add_argument("--folder", help="where to write; changed files are never overwritten")
    p = step(study, "put your own questions to models; takes NAME=value like make study")
    p.add_argument("given", nargs="*", metavar="NAME=value")
    what = "write request files of what can be asked now; with --submit send and record all of it"
    p = step(batch, what, settings=True)
    p.add_argument("own", nargs="*", metavar="NAME=value", help="your own questions, as for study")
    p.add_argument("--submit", action="store_true", help="send, wait and record, to the end")
    p.add_argument("--paper", default="", help="only the notebooks of this study")
    step(collect, "record the results of request files").add_argument("place", nargs="?")
    p = step(class_, "write a page and a CSV of a class's results")
    p.add_argument("folder", nargs="?", help="the folder of the files; by default handed_in")
    p.add_argument("--names", action="store_true", help="show pseudonyms beside free texts")
    p = step(index, "write manifest, claims and pages")
    p.add_argument("--profile", default="sample")
    p.add_argument("--since")
    p.add_argument("--file", help="settings of the run")
    p = step(try_models, "send a few calls to each model: what it answers and costs")
    p.add_argument("models")
    p = step(compare, "show the models of several runs beside each other")
    p.add_argument("runs")
    step(numbers, "check the printed numbers of a paper").add_argument("source")
    p = step(annotate, "write pages for raters, or take in what they send back")
    p.add_argument("given", nargs="*")
    p = step(data, "fetch and verify the data of a profile")
    p.add_argument("--profile", default="public")
    p.add_argument("--mirror")
    p.add_argument("--names", help="a file that names the only sources to fetch")
    p = step(verify, "rebuild a profile and compare it with the committed outputs")
    p.add_argument("--profile", default="sample")
    p = step(letter, "write a report on each study for its authors")
    p.add_argument("--profile", default="public")
    p = step(latex, "write the tables of a profile as LaTeX")
    p.add_argument("--profile", default="sample")
    step(outputs, "write the README's table of outputs, and docs/api.md")
    step(new, "begin a study of your own").add_argument("name")
    p = step(serve, "serve an embedded model")
    p.add_argument("model", nargs="?", default="smollm2-135m")
    step(doctor, "list what this checkout has and lacks")
    return parser


def _entered(file, pairs):
    """The settings of make's file and of -p; from here on this process is in their run.

    Its calls count as those of this make, and towards BUDGET_TOTAL.
    """
    from .build import settings

    given = {**(json.loads(Path(file).read_text()) if file else {}), **pairs}
    os.environ["BEDSIDE_TOTAL"] = str(given.pop("budget_total", ""))
    started = Path(f"{file}.started")
    if started.is_file():
        os.environ["BEDSIDE_MAKE"] = f"make {started.stat().st_mtime_ns}"
    return settings.entered(given, given.pop("run", ""))


class _Terminal:
    """Standard output without characters of texts from elsewhere that a terminal would obey."""

    def __init__(self, stream):
        self.stream = stream

    def write(self, text):
        return self.stream.write(plain(text))

    def __getattr__(self, name):
        return getattr(self.stream, name)


def _stop(told):
    with contextlib.suppress(OSError):
        print(f"bedside: {told}", file=sys.stderr)
    sys.exit(1)


def main(arguments=None):
    """Run the command line's step; a BedsideError becomes a line on stderr and exit status 1."""
    given = vars(_arguments().parse_args(arguments))
    step, shown = given.pop("step"), sys.stdout
    sys.stdout = _Terminal(shown)
    try:
        if "pairs" in given:
            given["given"] = _entered(given.pop("file"), dict(given.pop("pairs")))
        elif file := given.pop("file", None):  # a run goes on with the profile that it began with
            given["profile"] = _entered(file, {}).get("profile") or given["profile"]
        step(**given)
        sys.stdout.flush()
    except BedsideError as e:
        _stop(e)
    except OSError as e:
        _stop(f"{paths.rel(e.filename or 'standard output')} can't be used ({paths.why(e)}")
    except MemoryError:
        _stop("there is not enough memory (ulimit -v, or other programs'); JOBS=1 takes the least")
    finally:
        sys.stdout = shown


if __name__ == "__main__":
    main()
