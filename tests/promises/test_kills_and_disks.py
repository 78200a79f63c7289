"""Kills, disks that fail, wrong files of users: nothing is lost, paid twice, or invented."""

import itertools
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

EACH = 0.1 + 0.2  # USD of a reply that costs the most that it can


def test_processes_killed_at_any_moment_lose_repeat_and_overspend_nothing(world, endpoint):
    """Only what was under way is paid again; two that append at once don't mix their lines."""
    rng, kept, lost = random.Random(0), set(), 0
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}

    def script(n, body):
        time.sleep(0.01)
        return {**completion(body["messages"][-1]["content"] * 2000), "usage": usage}

    endpoint.script = script
    world.model(usd_per_million_in=1e3, usd_per_million_out=1e4)
    for _ in range(2):
        before, some = len(endpoint.bodies), rng.randint(4, 16)
        process = world.start(range(60), budget_usd=15)
        until(lambda before=before, some=some: len(endpoint.bodies) >= before + some)
        time.sleep(rng.uniform(0, 0.05))
        process.kill()
        process.join()
        quiet(endpoint)
        asked = [b["messages"][0]["content"].split()[1] for b in endpoint.bodies[before:]]
        assert not kept & {*asked} and max(Counter(asked).values()) == 1
        now = {*recorded_items(world)}
        lost += len(asked) - len(now - kept)
        assert len(asked) - len(now - kept) <= 4
        kept = now
    both = [world.start([f"{who}{n}" for n in range(25)], budget_usd=15) for who in "ab"]
    while any(process.is_alive() for process in both):  # whoever reads meanwhile sees whole lines
        time.sleep(0.05)
        world.ask(*recorded_items(world), mode="replay")
        world.run(mode="replay").recordings.check_sound()
    assert 1 in [process.exitcode for process in both]  # the budget stopped one
    assert len(endpoint.bodies) * EACH <= world.spent() <= 15 < (len(endpoint.bodies) + 16) * EACH
    items = [*range(60), *(f"{who}{n}" for who in "ab" for n in range(25))]
    assert [r.answer for r in world.ask(*items)] == [f"question {i}" * 2000 for i in items]
    assert len(endpoint.bodies) == len(items) + lost == len(world.recorded()) + lost


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
    """Every write of the library, in turn full, broken, interrupted, short; and each time killed.

    No money that was spent is forgotten; what a killed process had reserved stays counted.
    """
    world.model(usd_per_million_in=1e3, usd_per_million_out=1e4, max_concurrency=1)
    paid, most = 0.01 + 0.05, 0.122 + 0.2  # USD of a call, and the most that it could cost
    with Faults() as seen:
        world.ask(*"abc", budget_usd=9)
    assert len(seen.sites) > 5
    ended, sites = Counter(), [*enumerate(seen.sites)]
    for (n, site), kill in itertools.product(sites, (False, True)):
        fault = "killed" if kill else FAULTS[n % 4]
        world.elsewhere(f"{n}-{fault}")
        before, told, again = len(endpoint.bodies), f"{fault} at {site[0]} in {site[1]}", 1
        try:
            with Faults(site, fault):
                world.ask(*"abc", budget_usd=9)
            ended["went on"], again = ended["went on"] + 1, 0  # what was returned is kept
        except (BedsideError, OSError, Killed) as e:
            ended["told" if isinstance(e, BedsideError) else type(e).__name__] += 1
        rows = world.ask(*"abc", budget_usd=9)
        assert [(r.item, r.answer) for r in rows] == [(i, "fine") for i in "abc"], told
        calls = len(endpoint.bodies) - before
        assert calls <= 3 + again, told  # what was under way is paid again
        assert calls * paid <= world.spent() + 1e-9 <= calls * paid + 4 * most, told
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
