"""No key reaches a file or a message; hostile names and texts stay what they are."""

import json

import pytest

from bedside import BedsideError
from calling import KEY, result
from conftest import completion

OTHER = "another-made-up-0123/456789-of-a-test"


@pytest.fixture
def keyed(world, endpoint, monkeypatch):
    """A model whose entry takes secrets from the environment, at an endpoint that echoes them."""
    monkeypatch.setenv("OTHER", OTHER)
    world.model(
        api_key_env="TEST_KEY",
        headers={"X-Other": "${OTHER}"},
        query={"token": "${OTHER}"},
        extra_body={"user": "${OTHER}"},
        max_concurrency=1,
    )
    return world


def echo(status):
    text = f"You sent Bearer {KEY} and {OTHER}."
    body = completion(text) if status == 200 else {"error": {"message": text}}
    return status, {}, json.dumps(body).replace("/", r"\/").encode()


def with_secrets(world):
    """The files that hold one, but for what the provider wrote itself."""
    mine = (p for p in world.files if p.name != "results.jsonl")
    text = {p: p.read_bytes().replace(rb"\/", b"/") for p in mine}
    return [p for p, b in text.items() if KEY.encode() in b or OTHER.encode() in b]


@pytest.mark.parametrize("status", [200, 400, 401, 404, 429, 500])
def test_a_secret_that_an_endpoint_repeats_is_kept_nowhere(keyed, endpoint, status, capfd):
    keyed.retries(1)
    endpoint.script = lambda n, body: echo(status if n > 2 else 200)
    try:
        text = str(keyed.ask(*"abcdef"))
    except BedsideError as e:
        text = str(e)
    assert "***" in text and {f"Bearer {KEY}", OTHER} <= {*endpoint.headers[0].values()}
    assert endpoint.bodies[0]["user"] == OTHER  # they were used
    assert keyed.recorded() and with_secrets(keyed) == []
    shown = "".join([text, *capfd.readouterr()])
    assert KEY not in shown and OTHER not in shown


def test_a_secret_is_in_no_request_file_and_in_no_recording_of_a_batch(keyed):
    with pytest.raises(BedsideError, match="uses a value from the environment"):
        keyed.request_file({"a": "why?"})  # it would stand in the file
    keyed.model(extra_body=None)
    lines = keyed.request_file({"a": "why?", "b": "how?"})
    said = [json.loads(echo(status)[2]) for status in (200, 400)]
    printed = keyed.collect(result(x, s, b) for x, s, b in zip(lines, (200, 400), said))
    assert "1 taken in" in printed and "1 failed" in printed and "***" in printed
    assert KEY not in printed and OTHER not in printed and with_secrets(keyed) == []


@pytest.mark.parametrize("name", ["org/model", "../../x", "a b", "ünï", "<b>", "con:1"])
def test_a_models_name_is_a_file_within_the_folder(world, name):
    world.model(name)
    before = {*world.folder.parent.rglob("*.jsonl")}
    assert world.ask("a", models=name if " " not in name else "mine")[0].answer == "fine"
    (path,) = {*world.folder.parent.rglob("*.jsonl")} - before
    assert path.parent == world.folder / "data/recordings/own/asked"


HOSTILE = "\x1b[2J\u202e<script>alert(1)</script>{{ 7 * 7 }} {% raw %}=1+1"


def test_a_hostile_error_gives_a_terminal_no_orders(world, endpoint):
    endpoint.script = lambda n, body: (404, {}, {"error": {"message": HOSTILE}})
    with pytest.raises(BedsideError) as told:
        world.ask(*range(9))
    assert "\x1b" not in str(told.value) and "\u202e" not in str(told.value)
