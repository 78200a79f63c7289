"""Kills, disks that fail, damaged files: nothing is lost, paid twice, or invented."""

import copy
import json
import random
import time
from collections import Counter

import pytest

import bedside
from bedside import BedsideError
from bedside.annotation import log
from bedside.read.surroundings import here
from bedside.seminar import classroom
from calling import result
from conftest import completion, until
from file_faults import FAULTS, Faults, Killed, full_disk, short_writes

HALF = b'"fin'


def echo(n, body):
    return completion("to " + body["messages"][-1]["content"])


def test_killed_at_any_moment_a_run_pays_again_only_for_what_was_in_flight(world, endpoint):
    rng, kept, lost = random.Random(0), set(), []
    endpoint.script = lambda n, body: (time.sleep(0.01), echo(n, body))[1]
    for _ in range(4):
        before, some = len(endpoint.bodies), rng.randint(1, 20)
        process = world.start(range(120))
        until(lambda before=before, some=some: len(endpoint.bodies) >= before + some, 60)
        time.sleep(rng.uniform(0, 0.05))
        process.kill()
        process.join()
        quiet(endpoint)
        asked = [b["messages"][0]["content"] for b in endpoint.bodies[before:]]
        assert not kept & {f"to {a}" for a in asked} and max(Counter(asked).values()) == 1
        now = {r.answer for r in world.ask(*recorded_items(world), mode="replay")}
        lost.append(len(asked) - len(now - kept))
        assert lost[-1] <= 2 * 4  # those under way, and as many that waited for the disk
        kept = now
    rows = world.ask(*range(120))
    assert [r.answer for r in rows] == [f"to question {i}" for i in range(120)]
    assert len(endpoint.bodies) == 120 + sum(lost)


def quiet(endpoint):
    """Wait until all that was sent has reached the endpoint."""
    seen = -1
    while seen != len(endpoint.bodies):
        seen = len(endpoint.bodies)
        time.sleep(0.3)


def recorded_items(world):
    """Items whose lines of recordings are whole."""
    lines = (x for p in world.recordings() for x in p.read_bytes().split(b"\n")[:-1])
    return [json.loads(x)["item"] for x in lines if x.endswith(b"}")]


# ---- disks


def test_any_write_may_fail_or_be_the_last_and_the_same_command_goes_on(world, endpoint):
    """Every write of the library, in two of five ways: full, broken, interrupted, short, killed."""
    with Faults() as seen:
        world.ask(*"abc")
    assert len(seen.sites) > 3
    ended = Counter()
    for n, site in enumerate(seen.sites):
        for fault in (FAULTS[n % 5], FAULTS[(n + 2) % 5]):
            world.elsewhere(f"{n}-{fault}")
            before, told = len(endpoint.bodies), f"{fault} at {site[0]} in {site[1]}"
            most = 3 + 3  # what was under way is paid again
            try:
                with Faults(site, fault):
                    world.ask(*"abc")
                ended["went on"], most = ended["went on"] + 1, 3  # what was returned is kept
            except (BedsideError, OSError, Killed) as e:
                ended["told" if isinstance(e, BedsideError) else type(e).__name__] += 1
            rows = world.ask(*"abc")
            assert [(r.item, r.answer) for r in rows] == [(i, "fine") for i in "abc"], told
            assert len(endpoint.bodies) - before <= most, told
            world.ask(*"abc", mode="replay")
    assert ended["told"] and ended["Killed"] and not ended["OSError"], ended


def test_a_reply_that_is_written_in_pieces_is_whole(world, endpoint):
    with short_writes():
        rows = world.ask(*"abcdef")
    assert world.ask(*"abcdef", mode="replay") == rows and len(world.recorded()) == 6


def test_a_full_disk_stops_the_run_keeps_what_was_written_and_pays_for_nothing_more(
    world, endpoint
):
    endpoint.script = lambda n, body: completion("x" * 5_000)
    with full_disk(100_000), pytest.raises(BedsideError, match="No space left"):
        world.ask(*range(40))
    kept, paid = len(world.recorded()), len(endpoint.bodies)
    assert 0 < kept < 40 and paid <= kept + 2 * 4
    with full_disk(100_000), pytest.raises(BedsideError, match="No space left"):
        world.ask(*range(40))
    assert len(endpoint.bodies) == paid  # it is tried before a call is paid
    assert len(world.ask(*range(40))) == 40 and len(endpoint.bodies) == paid + 40 - kept


def test_a_folder_that_cannot_be_written_is_told_before_the_first_call(world, endpoint):
    (world.folder / "data/recordings").write_text("not a folder")
    with pytest.raises(BedsideError, match="can't be"):
        world.ask("a")
    assert not endpoint.bodies


# ---- damaged files


def test_a_half_written_last_line_costs_itself_alone(world, endpoint):
    world.ask("a", "b")
    (path,) = world.recordings()
    whole = path.read_bytes()
    for end in range(len(whole) // 2 + 3, len(whole), 97):
        path.write_bytes(whole[:end])
        before = len(endpoint.bodies)
        assert [r.answer for r in world.ask("a", "b")] == ["fine", "fine"]
        assert len(endpoint.bodies) == before + 1
        assert path.read_bytes().startswith(whole[:end])  # nothing is deleted
        world.ask("a", "b", mode="replay")


DAMAGE = {
    "garbage in a line": lambda text: text.replace(b'{"key"', b"\x00\xff", 1),
    "a list for a text": lambda text: text.replace(b'"fine"', b'["fine"]', 1),
    "too deep": lambda text: text.replace(b'"fine"', b"[" * 90000 + b"]" * 90000, 1),
    "a merge's marks": lambda text: b"<<<<<<< HEAD\n" + text,
    "UTF-16": lambda text: text.decode().encode("utf-16"),
    "a mark of its encoding": lambda text: b"\xef\xbb\xbf" + text,
    "two in a line": lambda text: text.replace(b"}\n{", b"}{"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_stops_before_anything_is_paid_again(world, endpoint, kind):
    """It is named, with its lines and a way out; the file as it was replays."""
    world.ask("a", "b")
    (path,) = world.recordings()
    sound = path.read_bytes()
    path.write_bytes(DAMAGE[kind](sound))
    for mode in ("record", "replay"):
        with pytest.raises(BedsideError, match=rf"{path.name}, lines? 1.*from git or a copy"):
            world.ask("a", "b", "c", mode=mode)
    assert path.name in world.mend()  # the doctor names it, too
    path.write_bytes(sound)
    assert [r.answer for r in world.ask("a", "b")] == ["fine", "fine"] and len(endpoint.bodies) == 2


def test_lines_may_end_as_another_system_writes_them(world, endpoint):
    world.ask("a", "b")
    (path,) = world.recordings()
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    world.ask("a", "b", mode="replay")
    world.ask("c")
    world.ask("a", "b", "c", mode="replay")


# ---- nonsense at each border

NONSENSE = ["", "²", "9" * 5000, "\ud800", "\x1b[2J", [], {}, [[1]], {"a": None}, None, True]
NONSENSE += [0, -1, 0.5, 10**400, 1e308, float("nan"), float("inf"), {"message": ["x"], "code": {}}]


def spoilt(whole, rng):
    """A value with one to three parts of it replaced by nonsense."""
    whole = copy.deepcopy(whole)
    for _ in range(rng.randint(1, 3)):
        inner, place = None, {"whole": whole}
        while True:
            inner, key = place, rng.choice(list(place) if isinstance(place, dict) else [0])
            place = inner[key]
            if not (isinstance(place, dict | list) and place) or rng.random() < 0.25:
                break
        if inner.keys() == {"whole"} if isinstance(inner, dict) else False:
            continue
        inner[key] = copy.deepcopy(rng.choice(NONSENSE))
    return whole


@pytest.mark.parametrize("count", [100, pytest.param(2000, marks=pytest.mark.slow)])
def test_nonsense_for_an_answer_is_a_reply_or_a_failure_by_call_and_by_batch(
    world, endpoint, count
):
    """Never a traceback; every answer that is kept replays as it was; others aren't touched."""
    whole = {**completion("Rest."), "system_fingerprint": "f"}
    answers = [spoilt(whole, random.Random(n)) for n in range(count)]
    prompts = {f"{k} {n}": f"{k} {n}" for n in range(count) for k in ("odd", "well")}

    def answer(said):
        kind, n = said.split()
        return answers[int(n)] if kind == "odd" else completion("Rest.")

    def script(n, body):
        return 200, {}, json.dumps(answer(body["messages"][0]["content"])).encode()

    endpoint.script = script
    world.model(max_concurrency=1, usd_per_million_in=1, usd_per_million_out=1)
    world.retries(0)
    rows = world.ask(prompts)
    assert all(r.answer == "Rest." for r in rows if r.item.startswith("well"))
    good = {r.item: prompts[r.item] for r in rows if ":" not in r.reply_status}
    assert len(good) > count and len(good) < 2 * count
    again = world.ask(good, mode="replay")
    assert again == [r for r in rows if r.item in good]
    world.elsewhere("batch")
    lines = world.request_file(prompts)
    said = [answer(x["body"]["messages"][0]["content"]) for x in lines]
    printed = world.collect([result(x, 200, a) for x, a in zip(lines, said)])
    assert printed.startswith(f"{len(good)} taken in")
    run = world.run(mode="replay")
    assert len(run.recordings) == len(good)


def test_nonsense_for_a_result_is_counted_and_the_rest_taken(world):
    rng = random.Random(0)
    lines = world.request_file({f"{n}": f"question {n}" for n in range(200)})
    whole = [result(x, 200, completion("Rest.")) for x in lines]
    odd = [spoilt(x, rng) if n % 2 else x for n, x in enumerate(whole)]
    odd += [b"", b"\xff", b"{not json", b"[" * 5000, b"null", whole[0] | {"custom_id": "0" * 64}]
    printed = world.collect(odd)
    first = printed.split(" taken")[0]
    assert int(first) >= 100 and len(world.run(mode="replay").recordings) == int(first)
    assert world.collect(whole).startswith(f"{200 - int(first)} taken in")


ENTRY = {  # a wrong line of an entry: the field that the error names
    "max_concurency = 4": "max_concurrency",
    "temperature = 1": "temperature",
    'max_concurrency = "4"': "max_concurrency",
    "max_concurrency = true": "max_concurrency",
    "max_concurrency = 0": "max_concurrency",
    "max_concurrency = 5000": "max_concurrency",
    "max_concurrency = 12345678901234567890": "max_concurrency",
    "requests_per_minute = 0": "requests_per_minute",
    "tokens_per_minute = inf": "tokens_per_minute",
    "reasoning_tokens = 0.5": "reasoning_tokens",
    "timeout_s = -1": "timeout_s",
    "usd_per_million_in = nan": "usd_per_million_in",
    "usd_per_million_in = 1": "usd_per_million_out",
    'omit = "seed"': "omit",
    'omit = ["system"]': 'system = "user"',
    'settings = "low"': "settings",
    "settings = {temperature = nan}": "settings",
    'settings = {max_tokens = "9"}': "settings",
    'response_format = "json"': "response_format",
    'api = "completion"': "api",
    'api = "completions"': "response_format",
    'system = "assistant"': "system",
    'think = ["<think>"]': "tag",
    "extra_body = {since = 2026-01-01}": "extra_body",
    "extra_body = {messages = []}": "messages",
    'headers = {"a b" = "c"}': "headers",
    'headers = {a = "b\\nc"}': "headers",
    'base_url = "http://[::1"': "base_url",
    'base_url = "https://me:secret@x/v1"': "password",
    'base_url = "https://me:secret@x y"': "base_url",
    'api_key = "abc"': "api_key_env",
    'api_key_env = "sk-abc-123456789"': "api_key_env",
    'headers = {Authorization = "Bearer x"}': "a key",
    'headers = {Helicone-Auth = "0123456789"}': "a key",
    'query = {key = "0123456789"}': "a key",
    'extra_body = {user = "sk-proj-0123456789abcdef"}': "a key",
    'about = "mine is AIzaSyA0123456789abcdefghijklm"': "a key",
    'price_date = "20261101"': "price_date",
    'base_url = "127.0.0.1/v1"': "such as https://",
}


def test_a_wrong_entry_is_named_with_its_fault_and_spoils_no_other(world, endpoint):
    file = world.folder / "data/models.toml"
    text = file.read_text()
    for line, field in ENTRY.items():
        url = "" if line.startswith("base_url") else 'base_url = "http://127.0.0.1:9/v1"\n'
        file.write_text(f'{text}\n[bad]\nprovider = "p"\nmodel = "m"\n{url}{line}\n')
        world.read_again()
        with pytest.raises(BedsideError, match=r"models.toml, \[bad\]: ") as told:
            world.ask("a", models="bad")
        assert field in str(told.value), line
        assert "secret" not in str(told.value) and "123456789" not in str(told.value), line
    assert world.ask("a")[0].answer == "fine"
    for content in (b"\xff\xfea", b"a = " + b"9" * 5000, b"a = " + b"[" * 9000, b"[a.b]\nmodel=1"):
        file.write_bytes(content)
        world.read_again()
        with pytest.raises(BedsideError, match=r"models.toml"):
            world.ask("a", models="a.b")


def test_settings_of_a_run_that_are_damaged_are_one_sentence(world, monkeypatch):
    monkeypatch.setattr(here, "run", "mine")
    (world.folder / "figures/runs/mine").mkdir(parents=True)
    for content in (b"", b"[]", b'{"seed": 1}', b"\xff", b'{"a": ' + b"[" * 9000):
        (world.folder / "figures/runs/mine/run.json").write_bytes(content)
        with pytest.raises(BedsideError, match="run.json: these are no settings of a run .*delete"):
            world.run()


def test_a_budgets_file_that_is_damaged_stops_a_call_and_is_named(world, endpoint):
    world.model(usd_per_million_in=1, usd_per_million_out=1)
    world.ask("a", budget_usd=1)
    for path in (world.folder / "ledger").iterdir():
        if path.is_file():
            path.write_bytes(b"no such file " * 999)
    with pytest.raises(BedsideError, match=r"calls\.json: .* delete it .* BUDGET_TOTAL") as told:
        world.ask("b", budget_usd=1)
    assert len(endpoint.bodies) == 1
    for path in (world.folder / "ledger").iterdir():
        if path.name in str(told.value):
            path.unlink()
    assert world.ask("b", budget_usd=1)[0].answer == "fine"


def test_users_files_are_read_or_told(tmp_path):
    row = {"item": "a", "question": "What helps?", "group": "g"}
    task = {"1.1": {"state": "right", "said": "well", "answer": [1, {"a": 2}]}}
    handed = {"sheet": "s", "pseudonym": "p", "student": "x", "time": "2026-11-25", "answers": task}
    for n in range(120):
        rng = random.Random(n)
        content = rng.choice([rng.randbytes(40), json.dumps(spoilt(row, rng)).encode()])
        content = json.dumps(spoilt(handed, rng)).encode() if n % 3 else content
        path = tmp_path / f"mine{rng.choice(['.csv', '.jsonl'])}"
        path.write_bytes(content)
        for read in (bedside.questions, log.read, classroom.read):
            try:
                read(path)
            except (BedsideError, classroom.Unreadable) as e:
                assert str(e) and "\x1b" not in str(e)


def test_an_unknown_model_is_answered_by_the_nearest(world):
    with pytest.raises(BedsideError, match="did you mean 'smollm2-135m'.*docs/your_model.md"):
        world.ask("a", models="smolm2-135m")
    assert "smollm2-135m" in bedside.models()
