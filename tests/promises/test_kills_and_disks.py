"""Kills, disks that fail, wrong files of users: nothing is lost, paid twice, or invented."""

import json
import random
import time
from collections import Counter
from pathlib import Path

import pytest

import bedside
from bedside import BedsideError
from bedside.annotation import log
from bedside.read.surroundings import here
from bedside.seminar import classroom
from calling import spoilt
from conftest import completion, until
from file_faults import FAULTS, Faults, Killed, full_disk


def echo(n, body):
    return completion("to " + body["messages"][-1]["content"])


def test_killed_at_any_moment_a_run_pays_again_only_for_what_was_in_flight(world, endpoint):
    rng, kept, lost = random.Random(0), set(), []
    endpoint.script = lambda n, body: (time.sleep(0.01), echo(n, body))[1]
    for _ in range(3):
        before, some = len(endpoint.bodies), rng.randint(1, 20)
        process = world.start(range(80))
        until(lambda before=before, some=some: len(endpoint.bodies) >= before + some, 60)
        time.sleep(rng.uniform(0, 0.05))
        process.kill()
        process.join()
        quiet(endpoint)
        asked = [b["messages"][0]["content"] for b in endpoint.bodies[before:]]
        assert not kept & {f"to {a}" for a in asked} and max(Counter(asked).values()) == 1
        now = {r.answer for r in world.ask(*recorded_items(world), mode="replay")}
        lost.append(len(asked) - len(now - kept))
        assert lost[-1] <= 4  # those under way
        kept = now
    rows = world.ask(*range(80))
    assert [r.answer for r in rows] == [f"to question {i}" for i in range(80)]
    assert len(endpoint.bodies) == 80 + sum(lost)


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


def test_two_processes_append_to_one_file_without_mixing_lines(world, endpoint):
    """Whoever reads meanwhile, or tries whether the disk takes a line, sees whole lines alone."""
    endpoint.script = lambda n, body: completion(body["messages"][0]["content"] * 2000)
    both = [world.start([f"{who} {n}" for n in range(30)]) for who in "ab"]
    while any(process.is_alive() for process in both):
        time.sleep(0.05)
        world.ask(*recorded_items(world), mode="replay")
        if world.recordings():
            kept = world.run(mode="replay").recordings
            kept.check_sound()
    assert [process.exitcode for process in both] == [0, 0]
    items = [f"{who} {n}" for who in "ab" for n in range(30)]
    rows = world.ask(*items, mode="replay")
    assert [r.answer for r in rows] == [f"question {i}" * 2000 for i in items]
    assert len(world.recorded()) == 60 == len(endpoint.bodies)


# ---- disks


def test_any_write_may_fail_or_be_the_last_and_the_same_command_goes_on(world, endpoint):
    """Every write of the library, in turn full, broken, interrupted, short, killed."""
    with Faults() as seen:
        world.ask(*"abc")
    assert len(seen.sites) > 3
    ended = Counter()
    for n, site in enumerate(seen.sites):
        fault = FAULTS[-1 - n % 5]
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


def test_a_full_disk_stops_the_run_keeps_what_was_written_and_pays_for_nothing_more(
    world, endpoint
):
    endpoint.script = lambda n, body: completion("x" * 5_000)
    with full_disk(100_000), pytest.raises(BedsideError, match="No space left"):
        world.ask(*range(40))
    kept, paid = len(world.recorded()), len(endpoint.bodies)
    assert 0 < kept < 40 and paid <= kept + 4
    with full_disk(100_000), pytest.raises(BedsideError, match="No space left"):
        world.ask(*range(40))
    assert len(endpoint.bodies) == paid  # it is tried before a call is paid
    assert len(world.ask(*range(40))) == 40 and len(endpoint.bodies) == paid + 40 - kept


def test_a_folder_that_cannot_be_written_is_told_before_the_first_call(world, endpoint):
    (world.folder / "data/recordings").write_text("not a folder")
    with pytest.raises(BedsideError, match="can't be"):
        world.ask("a")
    assert not endpoint.bodies


# ---- files of users

LINES = Path(__file__).with_name("wrong_entries.txt").read_text(encoding="utf-8").splitlines()
ENTRY = dict(line.split(" -> ") for line in LINES if not line.startswith("#"))


def test_a_wrong_entry_is_named_with_its_fault_and_spoils_no_other(world, endpoint):
    file = world.folder / "data/models.toml"
    bad = '\n[{}]\nprovider = "p"\nmodel = "m"\n{}{}\n'
    url = 'base_url = "http://127.0.0.1:9/v1"\n'
    entries = [
        bad.format(f"bad{n}", "" if line.startswith("base_url") else url, line)
        for n, line in enumerate(ENTRY)
    ]
    text = file.read_text()
    world.write_models(text + "".join(entries))
    for n, (line, field) in enumerate(ENTRY.items()):
        with pytest.raises(BedsideError, match=rf"models.toml, \[bad{n}\]: ") as told:
            world.ask("a", models=f"bad{n}")
        assert field in str(told.value), line
        assert "secret" not in str(told.value) and "123456789" not in str(told.value), line
    assert world.ask("a")[0].answer == "fine"
    for content in (b"\xff\xfea", b"a = " + b"9" * 5000, b"a = " + b"[" * 9000, b"[a.b]\nmodel=1"):
        world.write_models(content)
        with pytest.raises(BedsideError, match=r"models.toml"):
            world.ask("a", models="a.b")


def test_settings_of_a_run_that_are_damaged_are_one_sentence(world, monkeypatch):
    monkeypatch.setattr(here, "run", "mine")
    (world.folder / "figures/runs/mine").mkdir(parents=True)
    for content in (b"", b"[]", b'{"seed": 1}', b"\xff", b'{"a": ' + b"[" * 9000):
        (world.folder / "figures/runs/mine/run.json").write_bytes(content)
        with pytest.raises(BedsideError, match="run.json: not the settings of a run .*Delete"):
            world.run()


def test_users_files_are_read_or_told(tmp_path):
    row = {"item": "a", "question": "What helps?", "group": "g"}
    task = {"1.1": {"state": "right", "said": "well", "answer": [1, {"a": 2}]}}
    handed = {"sheet": "s", "pseudonym": "p", "student": "x", "time": "2026-11-25", "answers": task}
    for n in range(60):
        rng = random.Random(n)
        content = rng.choice([rng.randbytes(40), json.dumps(spoilt(row, rng)).encode()])
        content = json.dumps(spoilt(handed, rng)).encode() if n % 3 else content
        path = tmp_path / f"mine{rng.choice(['.csv', '.jsonl'])}"
        path.write_bytes(content)
        for read, *also in ((bedside.questions,), (log.read,), (classroom.read, ["s"])):
            try:
                read(path, *also)
            except BedsideError as e:
                assert str(e) and "\x1b" not in str(e)


def test_an_unknown_model_is_answered_by_the_nearest(world):
    with pytest.raises(BedsideError, match="did you mean 'smollm2-135m'.*docs/your_model.md"):
        world.ask("a", models="smolm2-135m")
    assert "smollm2-135m" in bedside.models()
