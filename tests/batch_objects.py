"""Files and batches as OpenAI publishes them: validation of lines, status, results.

Codes of errors are OpenAI's where it publishes them, or others report them; the words are ours.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field

CHAT = "/v1/chat/completions"  # the only endpoint of batches here
REQUIRED = ("input_file_id", "endpoint", "completion_window")
DAY_S = 86_400
STAGES = ("in_progress", "finalizing", "completed", "failed", "expired", "cancelling", "cancelled")
ENDED = {"completed", "failed", "expired", "cancelled"}
UNDONE = {
    "expired": "The completion window ended before this request was executed.",
    "cancelled": "The batch was cancelled before this request was executed.",
}


def now():
    return int(time.time())


# ---- validation: of what a batch is created with, and of its input file


def refusal(asked):
    """(words, param, code) that no batch is created with, or None."""
    for name in REQUIRED:
        if not asked.get(name):
            return f"Missing required parameter: '{name}'.", name, "missing_required_parameter"
    for name, only in (("endpoint", CHAT), ("completion_window", "24h")):
        if asked[name] != only:
            return f"Invalid value: '{asked[name]}'.", name, "invalid_value"
    metadata = asked.get("metadata") or {}
    if not all(isinstance(v, str) and len(k) <= 64 for k, v in metadata.items()):
        return "Values of metadata are strings.", "metadata", "invalid_type"
    return None


def error(code, words, param=None, line=None):
    return {"code": code, "line": line, "message": words, "param": param}


def validated(content, endpoint):
    """(the requests of an input file, the errors that its batch fails with)."""
    requests, errors = [], []
    for n, line in enumerate(content.removesuffix(b"\n").split(b"\n"), 1):
        try:
            request = json.loads(line)
            body, before = request["body"], requests[0]["body"] if requests else request["body"]
            assert request["method"] == "POST" and request["url"] == endpoint
            assert request["custom_id"] not in {r["custom_id"] for r in requests}
            assert body["model"] == before["model"] and body["messages"] and "stream" not in body
            requests.append(request)
        except (ValueError, KeyError, TypeError, AssertionError) as e:
            errors.append(error("invalid_request", f"{type(e).__name__}: {e}", line=n))
    return requests, errors


# ---- what is kept


@dataclass
class File:
    id: str
    filename: str
    purpose: str
    content: bytes
    created_at: int = field(default_factory=now)

    def shown(self):
        return {
            "id": self.id,
            "object": "file",
            "bytes": len(self.content),
            "created_at": self.created_at,
            "expires_at": self.created_at + 30 * DAY_S,
            "filename": self.filename,
            "purpose": self.purpose,
            "status": "processed",
            "status_details": None,
        }


@dataclass
class Batch:
    """A batch goes on when it is looked at, so that no test waits for a clock."""

    id: str
    asked: dict  # what it was created with
    requests: list  # of its file, in its order
    errors: list  # that its validation ends with
    most: int | None  # requests that it does before it expires
    result: Callable  # of a request, the line
    status: str = "validating"
    gets: int = 0  # that saw this status
    order: list = field(default_factory=list)  # in which it does its requests, once it may
    done: list = field(default_factory=list)  # lines of results
    files: dict = field(default_factory=dict)  # {'output': id, 'error': id}
    times: dict = field(default_factory=dict)  # {status: s}
    created_at: int = field(default_factory=now)

    @property
    def model(self):
        return self.requests[0]["body"]["model"] if self.requests else None

    @property
    def prompt_tokens(self):
        """An estimate, from the characters of all messages."""
        messages = (m for r in self.requests for m in r["body"]["messages"])
        return sum(len(str(m.get("content"))) for m in messages) // 4

    def look(self, polls):
        """One GET: each status is seen by so many, in progress with more and more results."""
        self.gets += 1
        if self.status not in ENDED and self.gets > polls:
            self.step()
            self.gets = 1
        if self.status == "in_progress":
            self._do(len(self.order) * self.gets // (polls + 1))

    def step(self):
        """On to the next status."""
        if self.status == "validating":
            self.enter("failed" if self.errors else "in_progress")
        elif self.status == "in_progress":
            self._do(len(self.order))
            self.enter("finalizing")
        elif self.status == "finalizing":
            self.enter("completed" if len(self.done) == len(self.order) else "expired")
        else:
            self.enter("cancelled")

    def enter(self, status):
        self.status, self.gets, self.times[status] = status, 0, now()
        if status == "in_progress":  # never in the file's order, if there are two
            self.order = self.requests[1::2] + self.requests[::2]

    def _do(self, count):
        count = count if self.most is None else min(count, self.most)
        while len(self.done) < count:
            self.done.append(self.result(self.order[len(self.done)]))

    def results(self):
        """{'output': lines that succeeded, 'error': all others} of a batch that has ended."""
        lines = {"output": [x for x in self.done if succeeded(x)]}
        lines["error"] = [x for x in self.done if not succeeded(x)]
        for n, request in enumerate(self.order[len(self.done) :]):
            why = {"code": f"batch_{self.status}", "message": UNDONE[self.status]}
            line = {"id": f"{self.id}_req_{n}", "custom_id": request["custom_id"]}
            lines["error"].append({**line, "response": None, "error": why})
        return lines

    def shown(self):
        good = [x for x in self.done if succeeded(x)]
        over = self.order if self.status in ENDED else self.done
        counts = {"completed": len(good), "failed": len(over) - len(good)}
        return {
            "id": self.id,
            "object": "batch",
            **{name: self.asked[name] for name in REQUIRED},
            "metadata": self.asked.get("metadata"),
            "model": self.model,
            "status": self.status,
            "errors": {"object": "list", "data": self.errors} if self.status == "failed" else None,
            "output_file_id": self.files.get("output"),
            "error_file_id": self.files.get("error"),
            "created_at": self.created_at,
            "expires_at": self.created_at + DAY_S,
            **{f"{status}_at": self.times.get(status) for status in STAGES},
            "request_counts": {"total": len(self.order), **counts},
        }


def succeeded(line):
    return line["response"] is not None and line["response"]["status_code"] == 200
