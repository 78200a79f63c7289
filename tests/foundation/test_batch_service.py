"""The endpoint of batches, as the `openai` client sees it; its objects as that package's types."""

import json

import openai
from openai.types import Batch, FileObject
from openai.types.chat import ChatCompletion

from batch_objects import CHAT
from batch_service import BatchService


def checked(kind, made):
    """An object that is of its type member by member, which the client itself doesn't ask."""
    kind.model_validate(made.to_dict(), strict=True)
    assert not made.model_extra
    return made


def test_a_batch_from_upload_to_results():
    with BatchService() as service, openai.OpenAI(base_url=service.url, api_key="any") as client:
        bodies = [
            {"model": "gpt-4.1", "messages": [{"role": "user", "content": f"What helps? {n}"}]}
            for n in range(7)
        ]
        lines = [
            {"custom_id": f"{n}", "method": "POST", "url": CHAT, "body": b}
            for n, b in enumerate(bodies)
        ]
        content = "".join(json.dumps(x) + "\n" for x in lines).encode()
        file = client.files.create(file=("wave-1.jsonl", content), purpose="batch")
        assert checked(FileObject, file).status == "processed"
        made = {"input_file_id": file.id, "endpoint": CHAT, "completion_window": "24h"}
        batch = checked(Batch, client.batches.create(**made, metadata={"wave": "1"}))
        statuses = [batch.status]
        while batch.status != "completed":
            batch = checked(Batch, client.batches.retrieve(batch.id))
            statuses.append(batch.status)
        assert statuses == ["validating"] * 2 + ["in_progress", "finalizing", "completed"]
        assert [b.id for b in client.batches.list()] == [batch.id]
        found = client.files.content(batch.output_file_id).text.split("\n")[:-1]
        assert len(found) == 7 == batch.request_counts.completed
        for result in map(json.loads, found):
            answer = ChatCompletion.model_validate(result["response"]["body"], strict=True)
            direct = client.chat.completions.create(**bodies[int(result["custom_id"])])
            assert direct.to_dict() == answer.to_dict()
