"""What comes from outside is held against what it should be: usage, recordings, entries, runs."""

import asyncio
import json
import sqlite3

import pytest

from bedside import BedsideError
from bedside.asking import failures, models
from bedside.build import settings
from bedside.keep import ledger, registry, store
from bedside.keep.replies import as_reply
from bedside.keep.usage import used
from bedside.read import outside, paths
from conftest import ask_for

HUGE = "9" * 5000
NO_COUNTS = ["10000000000000000000", "1" + "0" * 400, HUGE, '"²"', '"-1"', "-1", "NaN", "1e308"]


def talk(requests, recordings, mode="record"):
    return asyncio.run(models.ask(requests, recordings, mode=mode, progress=False))


@pytest.mark.parametrize("count", NO_COUNTS)
def test_a_usage_that_makes_no_sense_is_unknown_and_the_reply_is_kept(count):
    answer = (
        '{"choices": [{"message": {"content": "Rest."}, "finish_reason": "stop"}],'
        f' "usage": {{"prompt_tokens": {count}, "completion_tokens": 7}}}}'
    )
    (request,) = ask_for("smollm2-135m", "a")
    record = failures.read(request.kept(), outside.parsed(answer), {}, ())
    assert as_reply(request, record, False).text == "Rest." and used(record)[:2] == (None, 7)
    again = outside.parsed(json.dumps({**record, "usage": {}, "prompt_tokens": float("inf")}))
    assert used(again)[:2] == (None, 7)  # as an older recording may have it


DAMAGE = {  # what became of a file of two recordings -> which replies are still there, which lines
    "UTF-16": (lambda text: text.decode().encode("utf-16"), "", [1, 2]),
    "a mark": (lambda text: b"\xef\xbb\xbf" + text, "b", [1]),
    "garbage": (lambda text: text.replace(b'{"key"', b"\x00\xff", 1), "b", [1]),
    "a list for a text": (lambda text: text.replace(b'"to a"', b'["to a"]'), "b", [1]),
    "too deep": (lambda text: text.replace(b'"to a"', b"[" * 90000 + b"]" * 90000), "b", [1]),
    "two in a line": (lambda text: text.replace(b"}\n{", b"}{"), "", [1]),
}
MENDED = {"UTF-16": "ab", "a mark": "ab", "two in a line": "ab"}


def two(folder):
    """Recordings of the requests a and b in `folder`, and these."""
    requests = ask_for("smollm2-135m", "a", "b")
    kept = store.Recordings(folder)
    for request in requests:
        choice = {"message": {"content": f"to {request.item}"}, "finish_reason": "stop"}
        record = failures.read(request.kept(), {"choices": [choice]}, {}, ())
        path = kept.put("smollm2-135m", record)
    kept.write()
    return requests, path


def there(requests, folder):
    kept = store.Recordings(folder)
    return "".join(r.item for r in requests if kept.get(r.key)), kept


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_stops_before_a_call_and_is_mended_by_the_doctor(kind, tmp_path):
    damage, left, lines = DAMAGE[kind]
    requests, path = two(tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    items, kept = there(requests, tmp_path)
    assert items == left and [n for _, n in kept.damaged] == lines
    told = f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}: not recordings"
    for mode in ("replay", "record", "plan"):
        with pytest.raises(store.StoreError, match=told) as stopped:
            talk(requests, store.Recordings(tmp_path), mode)
        assert path.name in str(stopped.value) and "make doctor" in str(stopped.value)
    before = path.read_bytes()
    assert store.repaired(path)[1] == (kind not in MENDED)
    items, kept = there(requests, tmp_path)
    assert items == MENDED.get(kind, left) and not kept.damaged and not kept.check()
    aside = path.with_name(path.name + store.ASIDE)
    assert kind in MENDED or aside.read_bytes().strip() in before


def test_what_a_crash_cut_off_is_told_and_stops_nothing(tmp_path):
    requests, path = two(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 4] + b"\n" + whole)
    items, kept = there(requests, tmp_path)
    assert items == "ab" and kept.check().endswith("asked for again where it is needed")
    assert f"{path.name}, line 1:" in kept.check()


FAULTY = {
    "a date": ("extra_body = {since = 2026-01-01}", "extra_body holds 2026-01-01"),
    "nan": ("settings = {temperature = nan}", "settings holds nan"),
    "messages": ("extra_body = {messages = []}", "extra_body may not replace messages"),
    "a header": ('headers = {"a b" = "c"}', "'a b' is no name of a header"),
    "a header of two lines": ('headers = {a = "b\\nc"}', "should be a text of one line"),
    "20 digits": ("max_concurrency = 12345678901234567890", "is no amount"),
    "too many at once": ("max_concurrency = 5000", "max_concurrency is 1,000 at most"),
    "half an address": ('base_url = "http://[::1"', "is no address, such as https"),
    "a text for a limit": ('settings = {max_tokens = "9"}', "should be a whole number above 0"),
}


@pytest.mark.parametrize("kind", FAULTY)
def test_an_entry_that_no_call_can_hold_is_told(kind, monkeypatch, tmp_path):
    line, told = FAULTY[kind]
    here = "" if "base_url" in line else 'base_url = "http://127.0.0.1:9/v1"\n'
    (tmp_path / "models.toml").write_text(f'[a]\nprovider = "p"\nmodel = "m"\n{here}{line}\n')
    monkeypatch.setattr(paths, "DATA", tmp_path)
    assert told in registry._read.__wrapped__()[1]["a"]


@pytest.mark.parametrize("content", [b"\xff\xfea", b"a = " + b"9" * 5000, b"a = " + b"[" * 9000])
def test_entries_that_are_no_toml_are_one_sentence(content, monkeypatch, tmp_path):
    (tmp_path / "models.toml").write_bytes(content)
    monkeypatch.setattr(paths, "DATA", tmp_path)
    with pytest.raises(BedsideError, match="models.toml"):
        registry._read.__wrapped__()


@pytest.mark.parametrize("content", [b"", b"[]", b'{"seed": 1}', b"\xff", b'{"a": ' + b"[" * 9000])
def test_a_damaged_run_is_one_sentence(content, monkeypatch, tmp_path):
    monkeypatch.setenv("BEDSIDE_RUN", "mine")
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    settings.outputs("").mkdir(parents=True)
    (settings.outputs("") / "run.json").write_bytes(content)
    with pytest.raises(BedsideError, match="run.json: these are no settings of a run .*delete"):
        settings.kept()


def test_a_damaged_ledger_says_what_it_is_and_is_counted_anew(monkeypatch, tmp_path):
    monkeypatch.setenv("BEDSIDE_LEDGER", str(tmp_path))
    monkeypatch.setattr(paths, "RECORDINGS", tmp_path / "recordings")
    two(tmp_path / "recordings/medhalu/sample")
    assert not ledger.mended()
    (tmp_path / ledger.FILE).write_bytes(b"no database " * 999)
    with pytest.raises(store.StoreError, match="the ledger of calls is damaged .*make doctor"):
        ledger.Ledger("smollm2-135m", ledger.Account("n"))
    assert "medhalu/sample, smollm2-135m: 2 replies, $0.0000" in ledger.mended()
    ledger.Ledger("smollm2-135m", ledger.Account("n")).close()
    assert (tmp_path / f"damaged-{ledger.FILE}").is_file()


def test_what_stands_in_place_of_the_ledgers_folder_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("BEDSIDE_LEDGER", str(tmp_path))
    (tmp_path / "processes").write_text("")
    with pytest.raises(store.StoreError, match="move away what stands there"):
        ledger.Ledger("smollm2-135m", ledger.Account("n"))


def test_a_clock_set_back_makes_nobody_wait(monkeypatch, tmp_path):
    monkeypatch.setenv("BEDSIDE_LEDGER", str(tmp_path))
    monkeypatch.setitem(registry.entries(), "slow", {
        "provider": "p", "base_url": "http://127.0.0.1:9", "model": "m", "requests_per_minute": 1,
    })  # fmt: skip
    book = ledger.Ledger("slow", ledger.Account("n"))
    book.ended(book._turn(1, 0, ""), 0, (1, 1))
    assert 0 < book._turn(1, 0, "") <= ledger.WINDOW_S
    with sqlite3.connect(tmp_path / ledger.FILE) as db:  # an hour from now, as after such a change
        db.execute("update calls set at = at + 3600")
        db.execute("insert into pace values ('slow', ?, 1, 0, 0, 0)", [2**40])
    db.close()
    assert isinstance(book._turn(1, 0, ""), int)
    book.close()
