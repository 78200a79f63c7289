"""Set up the seminar once and open it in JupyterLab, on Windows, macOS and Linux.

    python start.py                 # the first start needs a network, 450 MB and some minutes
    python start.py --no-browser    # other options are passed on to JupyterLab

You need only Python. What the sheets use is installed from seminar.lock into the folder .venv
here. Where it is installed already, as in a JupyterHub, nothing is installed.
"""

# Old Pythons must be able to read this file, too, so that it can say which one is needed.

import hashlib
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(ROOT, ".venv")
VERSIONS = ((3, 11), (3, 12), (3, 13))  # which seminar.lock is made for
NEEDED = ("jupyterlab", "ipywidgets", "msgspec", "pandas", "rapidfuzz", "seaborn", "sklearn")
UNUSED = ("tests", "django-stubs")  # folders in packages
SERVERS = ("JUPYTERHUB_API_URL", "BINDER_SERVICE_HOST")  # set where JupyterLab runs already
PIP = ["-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-compile"]
LOCKED = ["--require-hashes", "--requirement", "seminar.lock"]
PACKAGE = ["--no-deps", "--no-build-isolation", "--editable", "."]


def main(arguments):
    """Set up what is missing, then open JupyterLab; returns the exit status."""
    if sys.version_info[:2] not in VERSIONS:
        return elsewhere(arguments)
    if any(name in os.environ for name in SERVERS):
        return served()
    if have(NEEDED) and ours():
        print("Everything that the sheets use is installed already; nothing is set up.")
        return lab(sys.executable, arguments)
    problem = set_up()
    if problem:
        print(problem)
        return 1
    return lab(python(), arguments)


def elsewhere(arguments):
    """Go on with a Python of the right version, or say which one is needed."""
    for version in reversed(VERSIONS):
        number = ".".join(map(str, version))
        for command in (["python" + number], ["py", "-" + number]):
            if which(command[0]) and quiet(command + ["-c", ""]):
                return subprocess.call(command + [os.path.abspath(__file__)] + arguments)
    found = ".".join(map(str, sys.version_info[:2]))
    print("The seminar needs Python 3.11, 3.12 or 3.13, and this is Python " + found + ".")
    print("Get one from https://www.python.org/downloads/ and start again with it:")
    print("    py -3.13 start.py        on Windows")
    print("    python3.13 start.py      on macOS and Linux")
    return 1


def which(name):
    """Where a program is; None on a Python too old to say."""
    return shutil.which(name) if hasattr(shutil, "which") else None


def quiet(command):
    """Whether a command succeeds; it prints nothing."""
    with open(os.devnull, "w") as nothing:
        return subprocess.call(command, stdout=nothing, stderr=nothing) == 0


def have(names):
    """Whether this Python finds packages."""
    import importlib.util

    return all(importlib.util.find_spec(name) for name in names)


def ours():
    """Whether this Python finds the package of this folder."""
    import importlib.util

    found = importlib.util.find_spec("bedside")
    here = os.path.join(ROOT, "lib", "bedside", "__init__.py")
    return bool(found) and os.path.realpath(found.origin or "") == os.path.realpath(here)


def served():
    """Set up what is missing where JupyterLab runs already; returns the exit status."""
    if not have(NEEDED):
        print(
            "This server lacks packages that the sheets use. They are listed in environment.yml"
            " here:"
        )
        print("    conda env update --file environment.yml")
        return 1
    if not ours() and subprocess.call([sys.executable] + PIP + PACKAGE, cwd=ROOT):
        return 1
    print("Everything that the sheets use is installed already, and JupyterLab is running:")
    print("open a sheet in the folder seminar.")
    return 0


def python():
    """The Python of .venv."""
    parts = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
    return os.path.join(VENV, *parts)


def set_up():
    """Install into .venv what is missing; returns what went wrong, in words."""
    stamp, wanted = os.path.join(VENV, ".ready"), lock()
    if os.path.isfile(python()) and os.path.isfile(stamp):
        with open(stamp) as f:
            if f.read() == wanted:
                return ""
    print(
        "Setting up .venv from seminar.lock. This is done once. It takes some minutes and"
        " needs a network and about 450 MB."
    )
    if not (os.path.isfile(python()) and quiet([python(), "-m", "pip", "--version"])):
        if subprocess.call([sys.executable, "-m", "venv", "--clear", VENV], cwd=ROOT):
            return (
                "This Python can't make a virtual environment. On Debian and Ubuntu, run `sudo apt"
                " install python3-venv`; then start again."
            )
    for what in (LOCKED, PACKAGE):
        if subprocess.call([python()] + PIP + what, cwd=ROOT, env=environment()):
            return (
                "The packages could not be installed; the reason is printed above. The first start"
                " needs a network. Start again: what is installed already stays."
            )
    trim()
    with open(stamp, "w") as f:
        f.write(wanted)
    return ""


def trim():
    """Delete what packages bring along and no sheet needs: a tenth of their size."""
    for folder, names, _ in os.walk(VENV):
        for name in set(UNUSED).intersection(names):
            if "site-packages" in folder:
                shutil.rmtree(os.path.join(folder, name), ignore_errors=True)


def lock():
    """A hash of the files that name the packages, the same with any line ends."""
    texts = []
    for name in ("seminar.lock", "pyproject.toml"):
        with open(os.path.join(ROOT, name), "rb") as f:
            texts.append(f.read().replace(b"\r\n", b"\n"))
    return hashlib.sha256(b"\n".join(texts)).hexdigest()


def environment():
    """The environment of what is started here: UTF-8, and the package of this folder."""
    library = os.path.join(ROOT, "lib")
    return dict(os.environ, PYTHONUTF8="1", PYTHONPATH=library, JUPYTERLAB_SETTINGS_DIR=quiet_lab())


def quiet_lab():
    """A folder of JupyterLab's settings by which it doesn't ask whether to fetch news."""
    folder = os.path.join(ROOT, ".cache", "lab")
    place = os.path.join(folder, "@jupyterlab", "apputils-extension")
    file = os.path.join(place, "notification.jupyterlab-settings")
    if not os.path.isfile(file):
        try:
            os.makedirs(place)
            with open(file, "w") as f:
                f.write('{"fetchNews": "false", "checkForUpdates": false}')
        except OSError:  # a read-only folder: then it asks
            pass
    return folder


def lab(python, arguments):
    """Run JupyterLab in the folder of the sheets until it is ended."""
    sheets = os.path.join(ROOT, "seminar")
    folder = sheets if os.path.isdir(sheets) else ROOT
    print("JupyterLab opens in your browser. To end it, press Ctrl+C here.")
    command = [python, "-m", "jupyterlab", "--ServerApp.root_dir=" + folder]
    try:
        return subprocess.call(command + arguments, cwd=folder, env=environment())
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
