"""The endpoint of batches, as the `openai` client sees it; its objects as that package's types."""

import asyncio
import json
import threading

import openai
import pytest
from openai.types import Batch, BatchError, FileDeleted, FileObject
from openai.types.chat import ChatCompletion

import batch_objects
import batch_service
import conftest

CHAT, ENDED = batch_objects.CHAT, batch_objects.ENDED
SLOW = {"message": "Too many.", "type": "requests", "param": None, "code": "rate_limit_exceeded"}


@pytest.fixture
def service():
    with batch_service.BatchService() as service:
        yield service


@pytest.fixture
def client(service):
    with openai.OpenAI(base_url=service.url, api_key="any", max_retries=0) as client:
        yield client


def line(n, model="gpt-4.1", **more):
    """A line of an input file; `more` replaces its members, None takes them out."""
    body = {"model": model, "messages": [{"role": "user", "content": f"What helps? {n:04}"}]}
    made = {"custom_id": f"key-{n}", "method": "POST", "url": CHAT, "body": body} | more
    return {k: v for k, v in made.items() if v is not None}


def body(n, **more):
    made = line(n)["body"] | more
    return {k: v for k, v in made.items() if v is not None}


def uploaded(client, lines, name="wave-1.jsonl"):
    if not isinstance(lines, bytes):
        lines = "".join(json.dumps(x) + "\n" for x in lines).encode()
    return checked(FileObject, client.files.create(file=(name, lines), purpose="batch"))


def submitted(client, lines, **more):
    file = lines if isinstance(lines, str) else uploaded(client, lines).id
    made = client.batches.create(input_file_id=file, endpoint=CHAT, completion_window="24h", **more)
    return checked(Batch, made)


def checked(kind, made):
    """An object that is of its type member by member, which the client itself doesn't ask."""
    kind.model_validate(made.to_dict(), strict=True)
    assert not made.model_extra
    return made


def seen(client, batch):
    return checked(Batch, client.batches.retrieve(batch.id))


def ended(client, batch, looks=9):
    """A batch once it has ended, and the statuses on the way."""
    statuses = [batch.status]
    while batch.status not in ENDED:
        assert len(statuses) <= looks
        statuses.append((batch := seen(client, batch)).status)
    return batch, statuses


def results(client, file_id):
    return [json.loads(x) for x in client.files.content(file_id).text.split("\n")[:-1]]


def keys(lines):
    return [x["custom_id"] for x in lines]


def test_a_batch_from_upload_to_results(service, client):
    file = uploaded(client, [line(n) for n in range(7)])
    assert (file.filename, file.purpose, file.status) == ("wave-1.jsonl", "batch", "processed")
    first = submitted(client, file.id, metadata={"wave": "1"})
    assert first.metadata == {"wave": "1"} and first.input_file_id == file.id
    assert first.request_counts.total == 0 and first.expires_at == first.created_at + 86_400
    batch, statuses = ended(client, first)
    assert statuses == ["validating"] * 2 + ["in_progress", "finalizing", "completed"]
    assert (batch.model, batch.errors, batch.error_file_id) == ("gpt-4.1", None, None)
    assert batch.created_at <= batch.in_progress_at <= batch.finalizing_at <= batch.completed_at
    counts = batch.request_counts
    assert (counts.total, counts.completed, counts.failed) == (7, 7, 0)
    lines = results(client, batch.output_file_id)
    assert sorted(keys(lines)) == [f"key-{n}" for n in range(7)] != keys(lines)
    for made in lines:
        assert made.keys() == {"id", "custom_id", "response", "error"} and made["error"] is None
        assert made["response"].keys() == {"status_code", "request_id", "body"}
        answer = ChatCompletion.model_validate(made["response"]["body"], strict=True)
        n = int(made["custom_id"].removeprefix("key-"))
        assert client.chat.completions.create(**body(n)).to_dict() == answer.to_dict()
    assert len({made["id"] for made in lines}) == 7
    spent = [made["response"]["body"]["usage"]["total_tokens"] for made in lines]
    assert batch.usage.total_tokens == sum(spent) > 0


@pytest.mark.parametrize("polls", [0, 1, 3])
def test_a_batch_goes_on_when_it_is_looked_at(polls, service, client):
    service.polls = polls
    _, statuses = ended(client, submitted(client, [line(n) for n in range(8)]), 3 * polls + 1)
    by_status = [statuses[1:].count(s) for s in ("validating", "in_progress", "finalizing")]
    assert by_status == [polls] * 3 and statuses[-1] == "completed"


def test_results_grow_while_a_batch_is_in_progress(service, client):
    service.polls = 3
    batch, counts = submitted(client, [line(n) for n in range(8)]), []
    while batch.status != "completed":
        batch = seen(client, batch)
        counts.append(batch.request_counts.completed)
    assert counts == [0, 0, 0, 2, 4, 6, 8, 8, 8, 8] and batch.output_file_id


FAULTS = [  # lines after a good one; code, line, param of what the batch fails with
    ([b"{not json"], ("invalid_json_line", 2, None)),
    ([b""], ("invalid_json_line", 2, None)),
    ([b'{"custom_id": NaN}'], ("invalid_json_line", 2, None)),
    ([b'{"custom_id": "\xff"}'], ("invalid_json_line", 2, None)),
    (["text"], ("invalid_request", 2, None)),
    ([line(1, custom_id=None)], ("missing_required_parameter", 2, "custom_id")),
    ([line(1, method=None)], ("missing_required_parameter", 2, "method")),
    ([line(1, url=None)], ("missing_required_parameter", 2, "url")),
    ([line(1, body=None)], ("missing_required_parameter", 2, "body")),
    ([line(1, custom_id=7)], ("invalid_type", 2, "custom_id")),
    ([line(1), line(2), line(1)], ("duplicate_custom_id", 4, "custom_id")),
    ([line(1, method="GET")], ("invalid_method", 2, "method")),
    ([line(1, url="/v1/embeddings")], ("invalid_url", 2, "url")),
    ([line(1, body="text")], ("invalid_type", 2, "body")),
    ([line(1, body=body(1, model=None))], ("invalid_request", 2, "body.model")),
    ([line(1, body=body(1, messages=None))], ("invalid_request", 2, "body.messages")),
    ([line(1, body=body(1, stream=True))], ("streaming_unsupported", 2, "body.stream")),
    ([line(1, "gpt-4.1-mini")], ("mismatched_model", 2, "body.model")),
    ([line(n) for n in range(1, 5)], ("too_many_tasks", None, None)),
]


@pytest.mark.parametrize("lines, expected", FAULTS, ids=[f"{e[0]} {e[2]}" for _, e in FAULTS])
def test_a_fault_of_a_line_fails_the_batch(lines, expected, service, client):
    service.most_lines = 4
    lines = [x if isinstance(x, bytes) else json.dumps(x).encode() for x in [line(0), *lines]]
    batch, statuses = ended(client, submitted(client, b"\n".join(lines) + b"\n"))
    assert statuses == ["validating"] * 2 + ["failed"]
    (error,) = batch.errors.data
    assert (error.code, error.line, error.param) == expected and error.message
    checked(BatchError, error)
    assert batch.failed_at and not batch.in_progress_at and batch.request_counts.total == 0
    assert not batch.output_file_id and not batch.error_file_id


def test_each_line_at_fault_is_named(client):
    lines = [line(0, url=None), line(1), line(1), line(2, "other")]
    batch, _ = ended(client, submitted(client, lines))
    assert [e.line for e in batch.errors.data] == [1, 3, 4]


def test_a_batch_without_requests_fails(service, client):
    for file, code in ((uploaded(client, b"").id, "empty_file"), ("file-9", "invalid_request")):
        batch, _ = ended(client, submitted(client, file))
        assert (batch.status, batch.errors.data[0].code) == ("failed", code)


@pytest.mark.parametrize(
    "name, content, words",
    [
        ("wave-1.txt", b"{}\n", "jsonl"),
        ("wave-1.jsonl", b"not json\n", "jsonl"),
        ("wave-1.jsonl", b"{}" * 20, "too large"),
    ],
)
def test_what_is_no_input_file_is_refused_at_upload(name, content, words, service, client):
    service.most_bytes = 30
    with pytest.raises(openai.BadRequestError, match=words):
        uploaded(client, content, name)
    assert not service.files and service.posts == [("/v1/files", content)]


@pytest.mark.parametrize(
    "asked, param",
    [
        ({"endpoint": "/v1/embeddings"}, "endpoint"),
        ({"completion_window": "48h"}, "completion_window"),
        ({"input_file_id": ""}, "input_file_id"),
        ({"metadata": {"wave": 1}}, "metadata"),
        ({"metadata": {"wave": "x" * 513}}, "metadata"),
        ({"metadata": {str(n): "x" for n in range(17)}}, "metadata"),
    ],
)
def test_what_is_no_batch_is_refused_when_it_is_created(asked, param, service, client):
    good = {"input_file_id": "file-1", "endpoint": CHAT, "completion_window": "24h"}
    with pytest.raises(openai.BadRequestError) as refused:
        client.batches.create(**{**good, **asked})
    assert refused.value.param == param and not service.batches


def test_a_line_that_fails_stands_in_the_error_file(service, client):
    def answer(asked):
        n = int(asked["messages"][0]["content"][-3:])
        late = {"code": "request_timeout", "message": "Too late."}
        return {1: (429, SLOW), 2: (None, late)}.get(n, conftest.completion(f"answer {n}"))

    service.answer = answer
    batch, _ = ended(client, submitted(client, [line(n) for n in range(4)]))
    assert batch.status == "completed"
    assert (batch.request_counts.completed, batch.request_counts.failed) == (2, 2)
    assert {*keys(results(client, batch.output_file_id))} == {"key-0", "key-3"}
    failed = {x["custom_id"]: x for x in results(client, batch.error_file_id)}
    assert failed["key-1"]["response"]["status_code"] == 429 and failed["key-1"]["error"] is None
    assert failed["key-1"]["response"]["body"] == {"error": SLOW}
    assert failed["key-2"]["response"] is None
    assert failed["key-2"]["error"]["code"] == "request_timeout"
    with pytest.raises(openai.RateLimitError):
        client.chat.completions.create(**body(1))


def test_a_batch_of_failures_has_no_output_file(service, client):
    service.answer = lambda asked: (400, SLOW)
    batch, _ = ended(client, submitted(client, [line(0)]))
    assert (batch.status, batch.output_file_id) == ("completed", None) and batch.error_file_id


@pytest.mark.parametrize("most, status", [(0, "expired"), (2, "expired"), (5, "completed")])
def test_a_batch_expires_with_what_was_done(most, status, service, client):
    service.expire_after = most
    batch, _ = ended(client, submitted(client, [line(n) for n in range(5)]))
    assert batch.status == status and bool(batch.expired_at) == (status == "expired")
    assert (batch.request_counts.completed, batch.request_counts.failed) == (most, 5 - most)
    done = results(client, batch.output_file_id) if most else []
    late = results(client, batch.error_file_id) if most < 5 else []
    assert sorted(keys(done + late)) == [f"key-{n}" for n in range(5)] and len(done) == most
    assert keys(done) != [f"key-{n}" for n in range(most)] or not most
    assert all(x["response"] is None and x["error"]["code"] == "batch_expired" for x in late)
    assert len({x["id"] for x in late}) == len(late)


@pytest.mark.parametrize("by", ["client", "dashboard"])
@pytest.mark.parametrize("looks, done", [(0, 0), (2, 2), (3, 4)])
def test_a_cancelled_batch_keeps_what_was_done(by, looks, done, service, client):
    batch = submitted(client, [line(n) for n in range(4)])
    for _ in range(looks):
        seen(client, batch)
    if by == "client":
        assert checked(Batch, client.batches.cancel(batch.id)).status == "cancelling"
    else:
        service.cancel(batch.id)
    batch, statuses = ended(client, seen(client, batch))
    assert statuses == ["cancelling", "cancelled"] and batch.cancelled_at >= batch.cancelling_at
    assert batch.request_counts.completed == done
    assert bool(batch.output_file_id) == bool(done) and bool(batch.error_file_id) == (done == 2)
    if done == 2:
        (code,) = {x["error"]["code"] for x in results(client, batch.error_file_id)}
        assert code == "batch_cancelled" and len(results(client, batch.output_file_id)) == 2
    assert client.batches.cancel(batch.id).status == "cancelled"


def test_what_is_over_cannot_be_cancelled(service, client):
    service.polls = 0
    batch = submitted(client, [line(0)])
    assert batch.status == "completed"
    with pytest.raises(openai.ConflictError):
        client.batches.cancel(batch.id)


def test_batches_are_listed_page_by_page_the_newest_first(service, client):
    file = uploaded(client, [line(0)])
    made = [submitted(client, file.id).id for _ in range(5)]
    assert [b.id for b in client.batches.list(limit=2)] == made[::-1] == [*service.batches][::-1]
    page = client.batches.list(limit=2, after=made[3])
    assert [b.id for b in page.data] == made[2:0:-1] and page.has_more
    page = client.batches.list(limit=2, after=made[1])
    assert [checked(Batch, b).id for b in page.data] == made[:1] and not page.has_more
    for wrong in ({"limit": 0}, {"limit": 101}, {"after": "batch_none"}):
        with pytest.raises(openai.BadRequestError):
            client.batches.list(**wrong)


def test_files_are_listed_and_deleted(service, client):
    service.polls = 0
    batch = submitted(client, [line(0)])
    names = [batch.output_file_id, batch.input_file_id]
    assert [checked(FileObject, f).id for f in client.files.list()] == names
    assert [f.id for f in client.files.list(limit=1, order="asc")] == names[::-1]
    assert [f.id for f in client.files.list(purpose="batch_output")] == names[:1]
    checked(FileDeleted, client.files.delete(names[0]))
    assert [*service.files] == names[1:]
    for call in (client.files.retrieve, client.files.content, client.files.delete):
        with pytest.raises(openai.NotFoundError):
            call(names[0])
    with pytest.raises(openai.NotFoundError):
        client.batches.retrieve("batch_none")


def test_a_refused_batch_fails_until_it_is_reset(service, client):
    file = uploaded(client, [line(0)]).id
    service.refuse = "token_limit_exceeded", "Too many tokens."
    before = submitted(client, file)
    service.refuse = None
    after, _ = ended(client, submitted(client, file))
    before, _ = ended(client, before)
    assert (before.status, after.status) == ("failed", "completed")
    assert before.errors.data[0].code == "token_limit_exceeded"
    assert before.errors.data[0].message == "Too many tokens."


def test_tokens_of_batches_under_way_are_limited(service, client):
    """Each question has 16 characters, 4 tokens; what failed or will fail takes no room."""
    service.enqueued = 16

    def submit(count, model="gpt-4.1"):
        return submitted(client, [line(n, model) for n in range(count)])

    first, refused, fits, other = submit(3), submit(2), submit(1), submit(4, "gpt-5")
    refused, _ = ended(client, refused)
    assert refused.errors.data[0].code == "token_limit_exceeded" and "16" in str(refused.errors)
    assert {ended(client, batch)[0].status for batch in (fits, other, first)} == {"completed"}
    assert ended(client, submit(4))[0].status == "completed"


def test_a_key_is_needed(client):
    client = client.with_options(default_headers={"Authorization": "Basic any"})
    calls = client.batches.list, client.files.list, client.chat.completions.create
    for call, asked in zip(calls, ({}, {}, body(0))):
        with pytest.raises(openai.AuthenticationError):
            call(**asked)


@pytest.mark.parametrize(
    "fault, error, kept",
    [
        ("drop", openai.APIConnectionError, 0),
        ("drop after", openai.APIConnectionError, 1),
        ((503, {"message": "Not now."}), openai.InternalServerError, 0),
    ],
)
def test_faults_of_transport(fault, error, kept, service, client):
    file = uploaded(client, [line(0)]).id
    service.fault = lambda method, path: (
        fault if (method, path) == ("POST", "/v1/batches") else None
    )
    with pytest.raises(error):
        submitted(client, file, metadata={"wave": "1"})
    assert [p for p, _ in service.posts] == ["/v1/files", "/v1/batches"]
    assert service.posts[1][1]["metadata"] == {"wave": "1"}
    assert len(client.batches.list().data) == kept


def test_direct_calls_run_beside_each_other(service):
    both = threading.Barrier(2, timeout=60)
    service.answer = lambda asked: both.wait() and None or conftest.completion()

    async def calls():
        async with openai.AsyncOpenAI(base_url=service.url, api_key="any") as client:
            two = [client.chat.completions.create(**body(n)) for n in range(2)]
            return await asyncio.gather(*two)

    assert [a.choices[0].message.content for a in asyncio.run(calls())] == ["fine", "fine"]
