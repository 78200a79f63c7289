"""Nonsense at each border ends in a sentence or in a reply, never in a traceback."""

import copy
import json
import tempfile
import tomllib
from pathlib import Path

import openai
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bedside import BedsideError
from bedside.annotation import log
from bedside.asking import failures
from bedside.build import settings as runs
from bedside.bulk import files, results
from bedside.keep import prices, registry, store
from bedside.keep.replies import Request, as_reply
from bedside.keep.usage import used
from bedside.read import outside, paths, questions, user_files
from bedside.seminar import classroom
from conftest import completion

TEXTS = ["", "x", "²", "9" * 5000, "\ud800", "\x1b[2J", "\u202e", "[::1", "http://[::1", "stop"]
TEXTS += ["${X}", "a\nb", "2026-01-01", "json_schema", "none", "completions", "messages"]
NUMBERS = [0, 1, -1, 0.5, 10**19, 10**400, 1e308, float("nan"), float("inf"), True, 200, 404]
PLAIN = st.sampled_from([*TEXTS, *NUMBERS, None]) | st.text(max_size=5)
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["message", "code", "text", *TEXTS[:3]]), inner, max_size=2
        )
    ),
    max_leaves=4,
)


@pytest.fixture(
    params=[pytest.param(4000, marks=pytest.mark.slow, id="many"), pytest.param(60, id="few")]
)
def examples(request):
    """A decorator that runs a property on so many examples, always the same ones."""
    return settings(
        max_examples=request.param,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def places(value, way=()):
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in inner:
        yield (*way, key)
        if isinstance(part, dict | list):
            yield from places(part, (*way, key))


@st.composite
def spoilt(draw, whole):
    """`whole` with up to three values in it replaced."""
    whole = copy.deepcopy(whole)
    for _ in range(draw(st.integers(1, 3))):
        *way, last = draw(st.sampled_from(list(places(whole))))
        inner = whole
        for key in way:
            inner = inner[key]
        inner[last] = draw(VALUES)
    return whole


def asks(name, n=2):
    messages = [{"role": "user", "content": "What helps?"}]
    return [Request(f"i{k}", name, messages, {"max_tokens": 5}, repeat=k) for k in range(n)]


@pytest.fixture
def batched(monkeypatch, tmp_path):
    """A model that takes batches, with two requests written for one."""
    monkeypatch.setattr(paths, "RECORDINGS", tmp_path / "recordings")
    monkeypatch.setenv("BEDSIDE_BATCHES", str(tmp_path / "batches"))
    entry = {"provider": "p", "base_url": "http://127.0.0.1:9", "model": "m"}
    monkeypatch.setitem(registry.entries(), "batched", {**entry, "usd_per_million_in": 1.0,
                        "usd_per_million_out": 1.0, "price_date": "2026-11-01"})  # fmt: skip
    sink = files.Sink(tmp_path / "parts/n", store.Recordings(paths.RECORDINGS / "s"))
    sink.extend(asks("batched"))
    sink.close()
    files.gather(tmp_path / "parts", tmp_path / "01", "s")
    return asks("batched")


def test_entries_are_told_or_work(examples, monkeypatch):
    toml = st.sampled_from([json.dumps(t) for t in TEXTS if t != "\ud800"]) | st.sampled_from(
        "0 1 -1 0.5 1e308 nan inf true 99999999999999999999 2026-01-01 12:00:00 [] [1] {} {a=nan}"
        " {a=2026-01-01} {a={b=[1]}} {model=1} {messages=[]} {max_tokens='9'} {'a:b'='c'} {x=1}"
        " {temperature='hot'} [[1,2]] [{}] [{above=1}] ['<t>','</t>'] ['messages']".split()
    )
    usual = {"provider": '"p"', "base_url": '"http://127.0.0.1:9/v1"', "model": '"m"'}
    form = {"type": "json_schema", "json_schema": {"schema": {}}}

    @examples
    @given(st.dictionaries(st.sampled_from(sorted(registry.KEYS)), toml, min_size=1, max_size=3))
    def property(given):
        lines = [f"{key} = {value}" for key, value in {**usual, **given}.items()]
        entry = tomllib.loads("\n".join(lines))
        if registry._fault("odd", entry):
            return
        monkeypatch.setitem(registry.entries(), "odd", entry)
        for request in [*asks("odd", 1), Request("i", "odd", [], {"max_tokens": 1}, form)][:1]:
            json.dumps([request.key, request.kept(), request.estimate(), request.likely])
            json.dumps(registry.sent("odd", request.body()), allow_nan=False)
        registry.cost_at_most("odd", 5, 5), registry.shared("odd"), prices.priced_when(entry)
        registry.spoken("odd", "<t>x"), registry.most("odd", 5, "a")
        try:
            registry.check_callable("odd")
            registry.check_batch("odd")
            openai.AsyncOpenAI(**registry.connection("odd"))
        except BedsideError as e:
            assert "odd" in str(e)

    property()


def test_answers_are_kept_or_told(examples, batched):
    whole = {**completion("Rest."), "system_fingerprint": "f"}

    @examples
    @given(spoilt(whole), st.integers(0, 1))
    def property(answer, deep):
        text = json.dumps(answer).replace('"Rest."', "[" * 2000 + "]" * 2000 if deep else '"Rest."')
        try:
            record = failures.read(batched[0].kept(), outside.parsed(text), {}, ())
        except ValueError:
            return
        except failures.Failure as e:
            failures.stop("batched", e)
            registry.cost("batched", *e.tokens)
            return
        kept = outside.parsed(json.dumps(record))
        outside.fitted(kept, store.Record)
        assert isinstance(as_reply(batched[0], kept, True).text, str)
        assert registry.cost("batched", *used(kept)) == registry.cost("batched", *used(record))

    property()


def test_batches_results_are_taken_or_counted(examples, batched, tmp_path):
    body = completion("Rest.")
    good = [
        {"custom_id": r.key, "response": {"status_code": 200, "body": body}, "error": None}
        for r in batched
    ]

    @examples
    @given(spoilt(good[0]))
    def property(line):
        (tmp_path / "r.jsonl").write_text(f"{json.dumps(line)}\n{json.dumps(good[1])}\n")
        for file in paths.RECORDINGS.rglob("*.jsonl"):
            file.unlink()
        account = results.take([tmp_path / "r.jsonl"])
        account.lines()
        kept = store.Recordings(paths.RECORDINGS)
        assert kept.get(batched[1].key) and not kept.check()  # the valid line is always taken

    property()


def test_recordings_are_read_or_named(examples, batched, tmp_path):
    record = failures.read(batched[0].kept(), completion("Rest."), {}, ())
    good = failures.read(batched[1].kept(), completion("Rest."), {}, ())

    @examples
    @given(spoilt(record) | st.binary(max_size=40))
    def property(line):
        with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
            path = Path(folder, "m.jsonl")
            first = line if isinstance(line, bytes) else json.dumps(line).encode()
            path.write_bytes(
                first + b"\n" + json.dumps(good, separators=(",", ":")).encode() + b"\n"
            )
            kept = store.Recordings(folder)
            for found in kept.records():
                as_reply(batched[0], found, True), registry.cost("batched", *used(found))
            assert kept.get(batched[1].key)["text"] == "Rest."
            store.repaired(path)
            mended = store.Recordings(folder)
            assert not mended.check() and mended.get(batched[1].key)["text"] == "Rest."

    property()


def test_users_files_are_read_or_told(examples, monkeypatch, tmp_path):
    monkeypatch.setenv("BEDSIDE_RUN", "mine")
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    runs.outputs("").mkdir(parents=True)
    row = {"item": "a", "question": "What helps?", "group": "g"}
    task = {"1.1": {"state": "right", "said": "well", "answer": [1, {"a": 2}]}}
    handed = {"sheet": "s", "pseudonym": "p", "student": "x", "time": "2026-11-25", "answers": task}
    lines = (
        spoilt([made]).map(lambda made: json.dumps(made[0]).encode()) for made in (row, handed)
    )
    content = st.one_of(st.binary(max_size=60), *lines)

    @examples
    @given(content, st.sampled_from([".csv", ".jsonl"]))
    def property(content, kind):
        path = tmp_path / f"mine{kind}"
        path.write_bytes(content)
        (runs.outputs("") / "run.json").write_bytes(content)
        for read in (
            lambda: questions.read(path),
            lambda: user_files.of_file(path, columns=("item",), needed=("item",)),
            runs.kept,
            lambda: log.read(path),
            lambda: classroom.read(path),
        ):
            try:
                read()
            except (BedsideError, classroom.Unreadable) as e:
                assert str(e) and "\x1b" not in str(e)

    property()
