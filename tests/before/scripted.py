"""An endpoint on the loopback interface that always answers alike: the items rest on it."""

import json
import re
import threading
import time
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WORDS = "rest, water, a blood test, an ultrasound, patience, a second opinion".split(", ")


def reply(body):
    """A text that depends on the request alone; a doctor asks three times and then names an end."""
    messages = body["messages"]
    asked = json.dumps([body["model"], messages], sort_keys=True)
    number = int(sha256(asked.encode()).hexdigest()[:8], 16)
    if '"score"' in messages[0]["content"]:
        return json.dumps({"score": number % 2})
    if '"diagnosis"' in messages[-1]["content"]:
        return json.dumps({"diagnosis": "migraine"})
    end = re.search(r"reply with (\S+) alone", messages[0]["content"])
    if end and sum(m["role"] == "assistant" for m in messages) >= 3:
        return end[1]
    return f"What about {WORDS[number % len(WORDS)]}?"


def completion(body):
    """The body of a chat completion."""
    message = {"role": "assistant", "content": reply(body)}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {
        "id": "x",
        "object": "chat.completion",
        "model": body["model"],
        "created": 1,
        "choices": [choice],
        "usage": usage,
    }


class Scripted(ThreadingHTTPServer):
    """Answers chats and takes batches; `bodies` are the chats that came.

    slow: seconds that a chat takes. done: whether batches are over; `requests` are theirs.
    """

    daemon_threads = True

    def __init__(self, port=0, slow=0.0, done=False, requests=()):
        super().__init__(("127.0.0.1", port), _Handler)
        self.slow, self.done, self.requests = slow, done, list(requests)
        self.bodies, self.looked, self.uploads = [], 0, 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request, client_address):
        pass  # a killed client hangs up

    def batch(self):
        """The batch, of which there is one at a time."""
        made = {"id": "batch_1", "object": "batch", "endpoint": "/v1/chat/completions"}
        made |= {"input_file_id": "file-1", "completion_window": "24h", "created_at": 1}
        made |= {"status": "completed" if self.done else "in_progress", "errors": None}
        return made | {"output_file_id": "file-2" if self.done else None}

    def results(self):
        """The lines of its results."""
        for line in self.requests:
            response = {"status_code": 200, "request_id": "r", "body": completion(line["body"])}
            yield {"id": "r", "custom_id": line["custom_id"], "response": response, "error": None}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path.endswith("/files"):
            self.server.uploads += 1
            lines = [x for x in sent.split(b"\n") if x.startswith(b'{"')]
            self.server.requests = [json.loads(x) for x in lines]
            file = {"id": "file-1", "object": "file", "bytes": len(sent), "created_at": 1}
            return self._send({**file, "filename": "x.jsonl", "purpose": "batch"})
        if self.path.endswith("/batches"):
            return self._send(self.server.batch())
        body = json.loads(sent)
        self.server.bodies.append(body)
        time.sleep(self.server.slow)
        return self._send(completion(body))

    def do_GET(self):
        if self.path.endswith("/content"):
            return self._send("\n".join(map(json.dumps, self.server.results())).encode() + b"\n")
        self.server.looked += 1
        return self._send(self.server.batch())

    def _send(self, made):
        data = made if isinstance(made, bytes) else json.dumps(made).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
