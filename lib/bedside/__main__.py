"""python -m bedside: the steps that `make` calls, which also work without it.

`help` and `variables` need the standard library only.
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
import inspect
import json
import re
import time
import zlib
from pathlib import Path

from . import BedsideError, choose
from .build import commands
from .read import paths, surroundings
from .read.prompts import plain
from .read.surroundings import here, variable


def help_():
    """Print make's commands and variables."""
    print(commands.help_text({name: _text(step) for name, step in STEPS.items()}))


def variables(goals="", *line):
    """Print `ok` and the name of the stamps for make's variables, or what is wrong with them.

    goals: make's, as one word. line: its variables as NAME=value.
    """
    line = dict(pair.split("=", 1) for pair in line)
    names = ("PROFILE", "MODELS", "JUDGE", "LIMIT", "SEED", "PROMPTS", "ANSWERS", "RUN")
    profile, *own = (line.get(name, variable(name)) for name in names)
    try:
        commands.check(goals.split(), line)
        choose(profile or paths.PROFILE, paths.profiles(), "PROFILE")
    except BedsideError as e:
        return print(e)
    apart = f"-{zlib.crc32(repr(own).encode()):08x}" if any(own) else ""
    print(f"ok {profile or paths.PROFILE}{apart}")


def settings_check(given, write=""):
    """Validate the settings of notebooks; write them to a file, if they aren't what it has."""
    from .build import settings
    from .read import questions
    from .write import frames

    name = given.get("run", "")
    asked = {n: v for n, v in given.items() if n != "run"}
    settings.validated(**asked)
    given = settings.entered(asked, name)
    brought = settings.validated(answers=given.get("answers", "")).answers
    if brought:
        questions.answer_rows(brought)  # raises its faults before anything runs
    given |= {"run": name} if name else {}
    if given.get("profile") == settings.PROFILE:  # which a run has once it is kept
        del given["profile"]
    text = json.dumps(given, indent=1) + "\n"
    if write:
        path = Path(write)
        path.parent.mkdir(parents=True, exist_ok=True)
        folder = settings.outputs(given.get("profile") or settings.PROFILE)
        paths.write(f"{write}.folder", paths.rel(folder))
        for done in frames.missing(folder):  # it has to run once more
            (path.parent / f"{done}.done").unlink(missing_ok=True)
        newer = brought and path.is_file() and _newer(brought, path)
        if newer or not path.is_file() or path.read_text() != text:
            paths.write(path, text)


def _newer(file, than):
    return Path(file).stat().st_mtime_ns > Path(than).stat().st_mtime_ns


def run(names, given, jobs=0, stamps=""):
    """Execute notebooks, all if none is named, and print a line for each that is done.

    jobs: how many at once; 0: one for each core, but one after the other if models are called.
    stamps: a folder for an empty file <name>.done for each that is done; then none is for none.
    """
    from .asking import budget, progress
    from .build import notebooks, settings
    from .publish import pages
    from .publish.pages import tell_calls

    if not str(jobs).isdecimal():
        raise BedsideError(f"JOBS={jobs}: give a whole number")
    jobs = int(jobs)
    names = [n.removeprefix("notebooks/").removesuffix(".ipynb") for n in names]
    names = names or ([] if stamps else notebooks.listed())
    settings.keep(given)
    every = {n.lower() for n in commands.taken("notebooks")} - {*notebooks.ONLY_SOME}
    own = {k: v for k, v in given.items() if k not in every}
    taken = [notebooks.typed(n, own) for n in names] if own else ()
    for name in own if taken else ():
        if not any(name in mine for mine in taken):
            told = name.upper() if name in notebooks.ONLY_SOME else name
            print(f"{told} is for other notebooks; it changes nothing here")
    passed = []

    def done(name, seconds):
        passed.append(name)
        print(f"[{len(passed):2} of {len(names)}] {name:45} {seconds:5.1f} s", flush=True)
        if stamps:
            path = Path(stamps, f"{name}.done")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()

    calling = given.get("mode") in ("record", "fresh")
    _tell_whose(names, given)
    if calling:
        _fetch_weights(given)
        jobs = jobs or 1  # calls share an endpoint and its limits
        here.terminal = progress.terminal()
        budget.make()  # opens an account for the kernels: without make there is none
    try:
        notebooks.run_all(names, given, jobs, done)
    except BedsideError:  # the pages say what is missing, with what there is
        folder = settings.outputs(given.get("profile", "sample"))
        if here.run and (folder / ".parts").is_dir():
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
            run.profile, *name.rpartition("/")[::2], run.mode, run.judge
        ):
            print(line, flush=True)


def record(paper, given):
    """Execute one paper's notebooks, or all, with MODE=record; then merge."""
    from .build import notebooks

    run(notebooks.listed(_study(paper)), {**given, "mode": "record"})
    index(given)


def index(given):
    """Merge manifests, write claims and pages; print a summary of the run."""
    from .build import settings
    from .publish import pages
    from .publish.pages import across, content
    from .read import claims

    profile, since = given.get("profile", "sample"), surroundings.began()
    local = settings.outputs(profile, private=True)
    apart = (local / ".parts").is_dir() and local != settings.outputs(profile)
    private = apart and pages.merge(profile, private=True)  # first, so that pages can link to it
    manifest = pages.merge(profile)
    content.write_notebooks(manifest, settings.outputs(profile))
    across.write(manifest, settings.outputs(profile))
    entries, folder = manifest["notebooks"].values(), paths.rel(settings.outputs(profile))
    print(
        f"{sum(len(e['outputs']) for e in entries)} outputs in {folder}"
        + (f"; {time.time() - since:.0f} s" if since else "")
    )
    counts = claims.tally(c for e in entries for c in e["claims"])
    for rank, told in zip(claims.WEIGHT, ("The papers' central claims:", "The papers' details:")):
        print(told, ", ".join(f"{claims.WORDS[v]} {n}" for v, n in counts[rank].items()))
    if private:
        content.write_notebooks(private, local)
        count = sum(len(e["outputs"]) for e in private["notebooks"].values())
        place = f"{paths.rel(local)}/index.html"
        print(f"{count} outputs that rest on texts which stay on this machine: {place}")
    print(f"Open {folder}/index.html")


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


def seminar(profile="sample", into=None):
    """Write sheets and a zip to hand out to seminar/."""
    from .seminar import editions

    path = editions.build(into, profile)
    here = paths.rel(path.parent)
    sheets = sorted((path.parent / "instructors").glob("*.ipynb"))
    print(f"{len(sheets)} sheets in {here}/students and {here}/instructors")
    print(f"  for the projector: {here}/instructors/*.html, without notes and solutions")
    print(f"  for you: {here}/instructors/*.ipynb, with notes and solutions (open with `make lab`)")
    print(f"  for students: {paths.rel(path)} ({path.stat().st_size / 1e6:.1f} MB)")
    if (page := path.parent / editions.demo.NAME).is_file():
        print(f"  fifteen minutes, without an installation: {paths.rel(page)}")


def class_(folder="", names=""):
    """Write a page and a CSV of a class's results: make class FOLDER=DIR."""
    from .seminar import classroom, overview

    path, told = overview.write(folder or classroom.FOLDER, bool(names))
    print(f"{told}. Open {paths.rel(path.resolve())}")


def data(profile="public", mirror="", names=""):
    """Fetch and check the papers' released data (for PROFILE=public unless you name another).

    It goes on after a failure and reports all of them.

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
    """Print calls, tokens and cost of all replies that are not recorded, without a call."""
    from .asking import registry
    from .build import plans

    calls = plans.planned(given, _study(paper))
    saved = any(registry.model(m).batch_discount for m in calls["model"].unique())
    print(
        f"{'notebook':38} {'model':24} {'calls':>7} {'prompt':>9} {'reply':>9}  expected   at most"
        + "  in batches: expected, at most" * saved
    )
    ways = (False, True) if saved else (False,)
    for (name, model), mine in calls.groupby(["notebook", "model"]):
        usd = ""
        for batch in ways:
            expected, most, known = plans.costs(mine, batch)
            expected = expected if known == len(mine) else None
            usd += f" {plans.usd(expected):>9} {plans.usd(most):>9}"
        prompt, reply = mine["prompt"].sum(), mine["completion"].sum()
        print(f"{name:38} {model:24} {len(mine):7} {prompt:9.0f} {reply:9.0f}{usd}")
    print(f"{len(calls)} calls; {'; in batches '.join(plans.told(calls, w) for w in ways)}")
    for line in plans.notes(calls):
        print(line)
    if calls["expected_completion"].isna().any():
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


def try_models(models=""):
    """Send a few calls to each of MODELS: what it answers and costs, and what its entry lacks."""
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


def verify(profile="sample"):
    """Rebuild a profile and compare it with the committed outputs."""
    from .explorer import read
    from .publish import verification

    verification.verify(profile, (explorer, read))


def outputs():
    """Rewrite the README's findings and table of outputs, and docs/api.md."""
    from .publish import api, readme

    print(f"wrote the table of outputs to {paths.rel(readme.write())}")
    print(f"wrote the names of `import bedside` to {paths.rel(api.write())}")


def letter(profile="public"):
    """Write a report on each study to its authors (for PROFILE=public unless you name another)."""
    from .publish import letters

    for path in letters.write(profile):
        print(f"{paths.rel(path)} and .html")


def latex(profile="sample"):
    """Write each table of a profile as LaTeX beside its .csv."""
    from .build import settings
    from .publish import pages
    from .publish.pages import content

    folder = settings.outputs(profile)
    count = content.write_latex(pages.last(folder), folder)
    print(f"{count} tables as .tex in {paths.rel(folder)}; they need the package booktabs")


def serve(model="smollm2-135m"):
    """Serve an embedded model (OpenAI-compatible, on this machine only)."""
    from .asking import embedded, registry

    url, served = embedded.served(model), registry.model(model).model
    print(f"{url} (OpenAI-compatible; model {served}; end with Ctrl-C)", flush=True)
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        print()


def doctor():
    """List what this checkout has and lacks, damaged recordings too."""
    import importlib.metadata

    from .asking import embedded, registry, store
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
        print(f"recordings {paths.rel(folder)}: {len(kept)} replies")
        try:
            kept.check_sound()
            print("  all can be read")
        except store.StoreError as e:
            print(f"  {e}")
    for name, m in registry.entries().items():
        if m.api_key_env:
            state = "set" if variable(m.api_key_env) else "not set"
            print(f"model {name}: key in {m.api_key_env} {state}")
    for told in registry.faulty().values():
        print(told)


def study(given):
    """Put your own questions to models: QUESTIONS=mine.csv MODELS="a b" (docs/own_study.md)."""
    from .own import steps

    if compared := given.pop("compare", ""):
        return steps.compare(compared)
    mine, given = steps.begun(given)
    if mine.mode == "plan":
        return steps.plan(mine)
    steps.execute(mine, given)
    steps.tell(mine)


def compare(runs=""):
    """Show the models of several runs beside each other: make compare RUNS="a b".

    runs: names of folders in figures/runs, or profiles.
    """
    from .build import settings
    from .publish.pages import models

    names = list(dict.fromkeys(runs.split()))
    if len(names) < 2:
        raise BedsideError('name two runs or more: make compare RUNS="a b"')
    folder = settings.figures() / "compared" / settings.short("+".join(names))
    print(f"Open {paths.rel(models.write_compared(folder, names))}")


def check_numbers(numbers=""):
    """Check the printed numbers of any paper: NUMBERS=mine.csv; new: a template (docs/check.md)."""
    from . import checking

    if not numbers:
        raise BedsideError(
            "name the file of printed numbers: make check NUMBERS=mine.csv"
            " (NUMBERS=new writes a template; to try it, take data/sample/check/six_lines.csv)"
        )
    if numbers == "new":
        made = checking.template()
        return print(
            f"{made} has a row of every kind: put yours in, then make check NUMBERS={made}"
        )
    path, told = checking.write(numbers)
    print(f"{told}. Open {paths.rel(path)}")


def annotate(given):
    """Write a page for each rater: TASK=name RATERS="A, B"; take in what comes back: FROM=DIR."""
    from . import annotation

    annotation.handed.by_make(given)


def batch(given, paper=""):
    """Write request files of what can be asked now, which an engine of yours answers.

    With `questions` they are of the user's own, as in `study`, otherwise of the notebooks.
    """
    from .build import notebooks, rounds
    from .own import steps

    _study(paper)
    if "questions" not in given:
        _tell_whose(notebooks.listed(paper), {**given, "mode": "record"})
    waiting = steps.waiting(given) if "questions" in given else rounds.waiting(given, paper)
    for line in rounds.told(*waiting):
        print(line)


def collect(given, place=""):
    """Record the results of request files: make collect FROM=results.jsonl, or a folder."""
    from .asking import batches

    place = place or given.get("from", "")
    if not place:
        raise BedsideError("name the file or folder of results: make collect FROM=results.jsonl")
    for line in batches.collect(batches.results(place)).told():
        print(line)


def new(paper=""):
    """Begin a study of your own: make new PAPER=name."""
    from .build import template

    for path in template.begin(paper):
        print(paths.rel(path))


def lab(given):
    """Open JupyterLab in this folder (RUN=name: with the settings of that run)."""
    here.run, here.make = given.get("run", ""), ""  # each kernel has budgets of its own
    environment = surroundings.handing_over(paths.CACHE / "lab.json")
    os.execve(sys.executable, [sys.executable, "-m", "jupyterlab"], environment)


STEPS = {
    f.__name__.partition("_")[0]: f
    for f in (
        *(help_, settings_check, run, record, index, explorer, site, data, plan, batch),
        *(collect, verify, seminar, class_, annotate, study, compare, try_models, check_numbers),
        *(letter, latex, outputs, new, lab, serve, doctor),
    )
}
OF_A_RUN = ("run", "record", "index", "explorer", "plan", "batch")  # without QUESTIONS


def _asked(arguments):
    """(a step's name, its arguments by name) of a command line and of what make was given.

    Words are a step's arguments in their order, NAME=value is one by name, as for make, and -p one
    of a notebook. What a step doesn't name itself is `given`. BedsideError for what it hasn't.
    """
    steps = "\n".join(f"  {name:10} {_text(step)}" for name, step in STEPS.items())
    parser = argparse.ArgumentParser(
        prog="python -m bedside",
        description=f"The steps that make calls:\n\n{steps}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("step", choices=STEPS, metavar="STEP")
    parser.add_argument("words", nargs="*", metavar="WORD", help="NAME=value as for make, and more")
    parser.add_argument("-p", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"))
    parser.add_argument("--names", nargs="?", const="1", default="", help="of `class` and `data`")
    asked = parser.parse_intermixed_args(arguments)
    name, takes = asked.step, [*inspect.signature(STEPS[asked.step]).parameters]
    own = [t for t in takes if t != "given"]
    pairs = dict(w.split("=", 1) for w in asked.words if NAMED.match(w))
    words = [w for w in asked.words if not NAMED.match(w)]
    given = {**commands.of_make(), **pairs}
    kind = "notebooks" if name in (*OF_A_RUN, "settings") else name
    kind = "study" if name == "batch" and given.get("QUESTIONS") else kind
    known = {*commands.taken(kind), *(n for n in commands.KNOWN if n.lower() in own)}
    for pair in pairs:
        choose(pair, [n for n in commands.KNOWN if n in known], f"variable of {name}")
    if extra := [] if "names" in own else words[len(own) :]:
        raise BedsideError(
            f"{name} takes no word {extra[0]!r}; settings are NAME=value, as for make"
        )
    given = {n.lower(): v for n, v in given.items() if n in known and v} | dict(asked.p)
    given |= {"names": words or asked.names} if "names" in own else {}
    given |= {} if "names" in own[:1] else dict(zip(own, words))
    mine = {t: given.pop(t) for t in own if t in given}
    if "given" not in takes:
        for other, _ in asked.p:  # a variable may be of a step that make runs before
            choose(other, own, f"argument of {name}")
        return name, mine
    return name, {"given": given, **mine}


NAMED = re.compile("[A-Za-z_]+=")


def _text(step):
    text = inspect.getdoc(step).partition("\n")[0].rstrip(".")
    return text[:1].lower() + text[1:]


def _entered(given):
    """These settings, in whose run this process is from here on.

    Its calls count as those of this make, and towards BUDGET_TOTAL.
    """
    from .build import settings

    here.budget_total = given.pop("budget_total", "")
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
    shown = sys.stdout
    sys.stdout = _Terminal(shown)
    try:
        asked = sys.argv[1:] if arguments is None else arguments
        if asked[:1] == ["variables"]:  # whose words are of no step
            variables(*asked[1:])
        else:
            step, given = _asked(asked)
            if step in OF_A_RUN and "questions" not in given["given"]:
                given["given"] = _entered(given["given"])
            STEPS[step](**given)
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
