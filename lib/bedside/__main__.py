"""python -m bedside: the steps that `make` calls, which also work without it.

`help` and `variables` need the standard library only.
"""

import os
import sys


def _ended(kind, error, trace):
    """Ctrl-C, also while modules are imported, becomes a line on stderr and exit status 130."""
    if not issubclass(kind, KeyboardInterrupt):
        return sys.__excepthook__(kind, error, trace)
    told = "Interrupted. All replies so far are recorded; the same command continues."
    print(f"bedside: {told}", file=sys.stderr, flush=True)
    os._exit(130)  # threads with notebooks would otherwise run to their end


if __name__ == "__main__":
    sys.excepthook = _ended

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

    asked = {k: v for k, v in given.items() if k != "run"}
    settings.validated(**asked)
    run = given.get("run", "")
    given = settings.entered(asked, run) | ({"run": run} if run else {})
    brought = settings.validated(answers=given.get("answers", "")).answers
    files = questions.answer_files(brought) if brought else []
    for file in files:
        questions.answer_rows(file)  # raises its faults before anything runs
    if given.get("profile") == settings.PROFILE:  # which a run has once it is kept
        del given["profile"]
    if not write:
        return
    path, text = Path(write), json.dumps(given, indent=1) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = settings.outputs(given.get("profile") or settings.PROFILE)
    paths.write(f"{write}.folder", paths.rel(folder))
    for done in frames.missing(folder):  # it has to run once more
        (path.parent / f"{done}.done").unlink(missing_ok=True)
    changed = [file.stat().st_mtime_ns for file in files]
    same = path.is_file() and path.read_text() == text
    if not same or path.stat().st_mtime_ns < max(changed, default=0):
        paths.write(path, text)


def run(names, given, jobs=0, stamps=""):
    """Execute notebooks, all if none is named, and print a line for each that is done.

    jobs: how many at once; 0: one for each core, but one after the other if models are called.
    stamps: a folder for an empty file <name>.done for each that is done; then none is for none.
    """
    from .asking import budget, embedded, progress
    from .build import notebooks, settings
    from .publish import pages

    if not str(jobs).isdecimal():
        raise BedsideError(f"JOBS={jobs}: give a whole number")
    names = [n.removeprefix("notebooks/").removesuffix(".ipynb") for n in names]
    names = names or ([] if stamps else notebooks.listed())
    settings.keep(given)
    used = {k for n in names for k in notebooks.typed(n, given)}
    for name in given.keys() - used if names else ():
        print(f"{name} has no effect here: it is for other notebooks")
    passed = []

    def done(name, seconds):
        passed.append(name)
        print(f"[{len(passed):2} of {len(names)}] {name:45} {seconds:5.1f} s", flush=True)
        if stamps:
            path = Path(stamps, f"{name}.done")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()

    calling, profile = given.get("mode") in ("record", "fresh"), given.get("profile", "sample")
    _tell_whose(names, given)
    if calling:
        for model in {*given.get("models", "").split(), given.get("judge")} & {*embedded.known()}:
            embedded.weights(model)  # fetched where its progress is seen
        jobs = jobs or 1  # calls share an endpoint and its limits
        here.terminal = progress.terminal()
        budget.make()  # opens an account for the kernels: without make there is none
    try:
        notebooks.run_all(names, given, int(jobs), done)
    except BedsideError:  # the pages say what is missing, with what there is
        if here.run and (settings.outputs(profile) / ".parts").is_dir():
            with contextlib.suppress(BedsideError):
                pages.merge(profile)
        raise
    finally:
        if calling:
            pages.tell_calls(settings.outputs(profile))


def _tell_whose(names, given):
    """Print whose texts go to the judge, before any do."""
    from .build import settings
    from .judging import judges

    taken = {k: v for k, v in given.items() if k in ("profile", "mode", "models", "judge")}
    run = settings.validated(**taken)
    for name in (n for n in names if "/" in n):  # of a study
        if line := judges.whose_texts_go(run.profile, *name.split("/"), run.mode, run.judge):
            print(line, flush=True)


def record(paper, given):
    """Execute one paper's notebooks, or all, with MODE=record; then merge."""
    from .build import notebooks

    run(notebooks.listed(_study(paper)), {**given, "mode": "record"})
    index(given)


def index(given):
    """Merge manifests, write claims and pages; print where they are."""
    from .build import settings
    from .publish import pages
    from .publish.pages import across, content

    profile, since = given.get("profile", "sample"), surroundings.began()
    folder, local = (settings.outputs(profile, private=private) for private in (False, True))
    apart = local != folder and (local / ".parts").is_dir()
    for place in [local] * apart + [folder]:  # the private ones first, so that pages link to them
        manifest = pages.merge(profile, private=place != folder)
        content.Pages(manifest, place).write_notebooks()
        count = sum(len(e["outputs"]) for e in manifest["notebooks"].values())
        private = " with texts that stay on this machine" * (place != folder)
        print(f"{count} outputs{private}: open {paths.rel(place)}/index.html")
    across.write(manifest, folder)
    if since:
        print(f"{time.time() - since:.0f} s")


def explorer(given):
    """Write the failure explorer of what the notebooks of a profile or run kept.

    Of some studies alone if only these ran; the sample's page, which is committed, has them all.
    """
    from .annotation import raters
    from .build import settings
    from .explorer import write
    from .publish import judged_items, pages

    chosen = {k: v for k, v in given.items() if k not in ("mode", "budget_usd", "budget_total")}
    chosen["profile"] = chosen.get("profile") or settings.PROFILE
    folder = settings.outputs(chosen["profile"], settings.changed(chosen))
    path, some = folder / "explorer.html", judged_items.here(**chosen)
    if "papers" not in chosen and 0 < len(some) < len(paths.papers()):
        if folder == settings.figures() / settings.PROFILE:
            print(f"{paths.rel(path)} is as it was: it shows all studies, see `make explorer`")
            return
        chosen["papers"] = " ".join(some)
    content = raters.with_labels(judged_items.collect(**chosen))
    across = (folder / pages.ACROSS).is_file()
    folder.mkdir(parents=True, exist_ok=True)
    write(path, content, pages.pages(content["papers"], across=across))
    local = settings.outputs(content["profile"], private=True)
    if local != folder and (local / "manifest.json").is_file():
        linked = {p: n for p, n in content["papers"].items() if (local / f"{p}.html").is_file()}
        write(local / path.name, content, pages.pages(linked))
    print(f"{len(content['rows'])} replies with their verdicts: {paths.rel(path)}")


def site():
    """Write the pages of both profiles for a static host."""
    from .publish.pages import site

    print(f"Open {paths.rel(site.write_site(paths.ROOT / 'site'))}")


def seminar(profile="sample", into=None):
    """Write sheets and a zip to hand out to seminar/."""
    from .seminar import editions

    choose(profile, ["sample"], "profile of the sheets")
    path = editions.build(into)
    place = paths.rel(path.parent)
    print(f"for students, to hand out: {paths.rel(path)}")
    print(f"for you: {place}/instructors, with notes and solutions, slides and a marking guide")
    for page in path.parent.glob(editions.demo.NAME):
        print(f"fifteen minutes, without an installation: {paths.rel(page)}")


def class_(folder="", names=""):
    """Write a page and a CSV of a class's results: make class FOLDER=DIR."""
    from .seminar import overview

    path, told = overview.write(folder or None, bool(names))
    print(f"{told}. Open {paths.rel(path.resolve())}")


def data(profile="public", mirror=""):
    """Fetch and check the papers' released data (for PROFILE=public unless you name another).

    It goes on after a failure and reports all of them.
    """
    from .read import sources

    failed = []
    for name in sources.used_by(profile):
        entry = sources.entry(name)
        try:
            got = sources.fetch(name, mirror)
            yours = f"; add your own as {entry['file']}" if "file" in entry else ""
            print(f"{got:8} {name}{f' (optional{yours})' if got == 'absent' else ''}")
            if rows := sources.differing(name):
                listed = f"{', '.join(rows[:20])}{', ...' if len(rows) > 20 else ''}"
                print(f"  {len(rows)} rows differ from the recorded copy: {listed}")
        except sources.SourceError as e:
            missing = isinstance(e.__cause__, OSError)  # it could not be fetched
            if missing and entry.get("optional"):
                print(f"absent   {name} (optional; claims that need it say so): {e}")
            else:
                failed.append(str(e))
    if failed:
        raise BedsideError("\n".join(failed))


def plan(given, paper=""):
    """Print calls, tokens and cost of replies that are not recorded yet; no model is called."""
    from .asking import registry
    from .build import plans

    calls = plans.planned(given, _study(paper))
    models = calls["model"].unique()
    ways = [False] + [True] * any(registry.model(m).batch_discount for m in models)
    print(f"{'notebook':38} {'model':23}    calls    prompt     reply  expected     bound")
    for (name, model), mine in calls.groupby(["notebook", "model"]):
        expected, most, known = plans.costs(mine)
        usd = [plans.usd(expected if known == len(mine) else None), plans.usd(most)]
        prompt, reply = mine["prompt"].sum(), mine["completion"].sum()
        row = f"{name:38} {model:24} {len(mine):7} {prompt:9.0f} {reply:9.0f}"
        print(row, *(f"{price:>9}" for price in usd))
    print(f"{len(calls)} calls; {'; in batches '.join(plans.told(calls, w) for w in ways)}")
    print(*plans.notes(calls), sep="\n")
    for name, what in {*calls[["notebook", "adaptive"]].itertuples(index=False, name=None)}:
        if what:
            print(f"{name}: {what} depends on earlier replies, so these numbers are bounds")
    for model in models:
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
    if lacking := [name for name in names if not asyncio.run(try_out.tried(name))]:
        raise BedsideError(f"not ready: {', '.join(lacking)}")


def verify(profile="sample"):
    """Rebuild a profile and compare its numbers with the committed ones."""
    from .publish import verification

    verification.verify(profile)


def outputs():
    """Rewrite the README's findings and table of outputs, and docs/api.md."""
    from .publish import readme

    print("wrote", *readme.write())


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
    count = content.Pages(pages.last(folder), folder).write_latex()
    print(f"{count} tables as .tex in {paths.rel(folder)}. They need the package booktabs.")


def serve(model="smollm2-135m"):
    """Serve an embedded model (OpenAI-compatible, on this machine only)."""
    from .asking import embedded, registry

    url, served = embedded.served(model), registry.model(model).model
    print(f"{url} (OpenAI-compatible; model {served}; end with Ctrl-C)", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            time.sleep(3600)


def doctor():
    """List what this checkout has and lacks, damaged recordings too."""
    import importlib.metadata

    from .asking import embedded, registry, store
    from .read import sources

    def tell(what, check, *arguments):
        try:
            found = check(*arguments)
            print(f"{what}: {found if isinstance(found, str) else 'sound'}")
        except (BedsideError, importlib.metadata.PackageNotFoundError) as e:
            print(f"{what}: {e}")

    print(f"Python {sys.version.split()[0]} at {sys.prefix}")
    for package in ("papermill", "openai", "pandas", "matplotlib", "scikit-learn", "xllamacpp"):
        tell(package, importlib.metadata.version, package)
    for name, m in embedded.known().items():
        lacks = f"fetched when first needed ({m['fetched_mb']:,} MB)"
        print(f"weights of {name}: {'present' if embedded.place(name).is_file() else lacks}")
    for name in sources.registry():
        tell(f"source {name}", sources.verified, name)
    for folder in sorted({p.parent for p in paths.RECORDINGS.rglob("*.jsonl")}):
        kept = store.Recordings(folder)
        tell(f"recordings {paths.rel(folder)}, {len(kept)} replies", kept.check_sound)
    for name, m in registry.entries().items():
        if m.api_key_env:
            state = "set" if variable(m.api_key_env) else "not set"
            print(f"model {name}: key in {m.api_key_env} {state}")
    print(*registry.faulty().values(), sep="\n")


def study(given):
    """Put your own questions to models: QUESTIONS=mine.csv MODELS="a b" (docs/own_study.md)."""
    from .own import steps

    mine, given = steps.begun(given)
    if mine.mode == "plan":
        return steps.plan(mine)
    steps.execute(mine, given)
    steps.tell(mine)


def compare(runs=""):
    """Show the models of several runs or own studies beside each other: make compare RUNS="a b".

    runs: names of folders in figures/runs or figures/own, or profiles.
    """
    from . import own
    from .build import settings
    from .publish import comparison
    from .publish.pages import models

    names = list(dict.fromkeys(runs.split()))
    if len(names) < 2:
        raise BedsideError('name two runs or more: make compare RUNS="a b"')
    folder = settings.figures() / "compared" / settings.short("+".join(names))
    mine = {p.parent.name for p in settings.figures().glob("own/*/verdicts.csv")}
    found = [own.compared(n) if n in mine else comparison.named(n, mine) for n in names]
    print(f"Open {paths.rel(models.write_compared(folder, found))}")


def check_numbers(numbers=""):
    """Check the printed numbers of any paper: NUMBERS=mine.csv; new: a template (docs/check.md)."""
    from . import checking

    if not numbers:
        raise BedsideError(
            "Name the file of printed numbers: make check NUMBERS=mine.csv. NUMBERS=new writes a"
            " template, and data/sample/check/six_lines.csv is an example."
        )
    if numbers == "new":
        made = checking.template()
        return print(f"{made} has a row of every kind: put yours in, then NUMBERS={made}")
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
    print(*rounds.told(*waiting), sep="\n")


def collect(given, place=""):
    """Record the results of request files: make collect FROM=results.jsonl, or a folder."""
    from .asking import batches

    place = place or given.get("from", "")
    if not place:
        raise BedsideError("name the file or folder of results: make collect FROM=results.jsonl")
    print(*batches.collect(place), sep="\n")


def new(paper=""):
    """Begin a study of your own: make new PAPER=name."""
    from .build import template

    print(*map(paths.rel, template.begin(paper)), sep="\n")


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


def _asked(words):
    """(a step's name, its arguments by name) of a command line and of what make was given.

    Words are a step's arguments in their order, NAME=value is one by name, as for make, and -p one
    of a notebook. What a step doesn't name itself is `given`. BedsideError for what it hasn't.
    """
    name, *words = ["help"] if words[:1] in ([], ["-h"], ["--help"]) else words
    takes = [*inspect.signature(STEPS[choose(name, STEPS, "step of python -m bedside")]).parameters]
    own, pairs, more, plain = [t for t in takes if t != "given"], {}, {}, []
    words = iter(words)
    for word in words:
        key, is_pair, value = word.partition("=")
        if word == "-p":
            more |= [(next(words, ""), next(words, ""))]
        elif word == "--names":  # of `class`
            more["names"] = "1"
        elif is_pair and re.fullmatch("[A-Za-z_]+", key):
            pairs[key] = value
        else:
            plain.append(word)
    given = {**commands.of_make(), **pairs}
    kind = "notebooks" if name in (*OF_A_RUN, "settings") else name
    kind = "study" if name == "batch" and given.get("QUESTIONS") else kind
    known = [n for n in commands.KNOWN if n in commands.taken(kind) or n.lower() in own]
    for pair in pairs:
        choose(pair, known, f"variable of {name}")
    given = {n.lower(): v for n, v in given.items() if n in known and v} | more
    if own[:1] == ["names"]:
        given["names"] = plain
    elif len(plain) > len(own):
        last = plain[len(own)]
        raise BedsideError(
            f"{name} doesn't accept {last!r}. Write settings as NAME=value, as for make."
        )
    else:
        given |= dict(zip(own, plain))
    for other in more if "given" not in takes else ():
        choose(other, own, f"argument of {name}")  # a variable may be of a step that make ran first
    arguments = {t: given.pop(t) for t in own if t in given}
    return name, arguments | ({"given": given} if "given" in takes else {})


def _text(step):
    text = inspect.getdoc(step).partition("\n")[0].rstrip(".")
    return text[:1].lower() + text[1:]


class _Terminal:
    """Standard output without characters of texts from elsewhere that a terminal would obey."""

    def __init__(self, stream):
        self.stream = stream

    def write(self, text):
        return self.stream.write(plain(text))

    def __getattr__(self, name):
        return getattr(self.stream, name)


def main(arguments=None):
    """Run the command line's step; a BedsideError becomes a line on stderr and exit status 1."""
    asked, told = sys.argv[1:] if arguments is None else arguments, ""
    with contextlib.redirect_stdout(_Terminal(sys.stdout)):
        try:
            if asked[:1] == ["variables"]:  # whose words are of no step
                variables(*asked[1:])
            else:
                step, given = _asked(asked)
                if step in OF_A_RUN and "questions" not in given["given"]:
                    from .build import settings

                    # its calls count as those of this make, and towards BUDGET_TOTAL
                    run, here.budget_total = (given["given"].pop(k, "") for k in RUN)
                    given["given"] = settings.entered(given["given"], run)
                STEPS[step](**given)
            sys.stdout.flush()
        except BedsideError as e:
            told = e
        except OSError as e:
            told = f"{paths.rel(e.filename or 'standard output')} can't be used ({paths.why(e)}"
        except MemoryError:
            told = "Not enough memory (ulimit -v, or other programs). JOBS=1 needs the least."
    if told:
        with contextlib.suppress(OSError):
            print(f"bedside: {told}", file=sys.stderr)
        sys.exit(1)


RUN = ("run", "budget_total")

if __name__ == "__main__":
    main()
