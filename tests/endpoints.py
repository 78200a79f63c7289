"""A real HTTP endpoint on the loopback interface, scripted by tests."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def completion(text="fine", finish="stop", **message):
    """The body of a chat completion."""
    said = {"role": "assistant", "content": text, **message}
    made = {"id": "x", "object": "chat.completion", "model": "served-2026-01-01", "created": 1}
    made["choices"] = [{"index": 0, "finish_reason": finish, "message": said}]
    tokens = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return made | {"usage": tokens}


# replies that are no answers, by why
SILENT = {
    "cut off while thinking": completion("", finish="length"),
    "filtered": completion("Half a sentence that", finish="content_filter"),
    "refused": completion(None, refusal="I can't help with that."),
    "tool calls": completion("Let me look.", finish="tool_calls", tool_calls=[{"id": "a"}]),
    "blank": completion(" \n"),
}


class Endpoint(ThreadingHTTPServer):
    """Answers POSTs by `script(n, body)`.

    It gives a dict (200), (status, headers, bytes or dict), 'cut', 'hang' or 'drip': a byte at a
    time; `dripped` is whether one came to its end.
    """

    daemon_threads = True
    request_queue_size = 512

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = lambda n, body: completion()
        self.bodies, self.headers, self.lock = [], [], threading.Lock()
        self.release, self.dripped = threading.Event(), False
        threading.Thread(target=self.serve_forever, args=[0.02], daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request, client_address):
        pass  # clients of these tests hang up


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with server.lock:
            server.bodies.append(body)
            server.headers.append(dict(self.headers))
            n = len(server.bodies)
        action = server.script(n, body)
        if action == "hang":
            server.release.wait(20)
            self.close_connection = True
            return
        if action == "drip":
            return self._drip()
        status, headers, data = (200, {}, action) if isinstance(action, (dict, str)) else action
        cut = data == "cut"
        data = b'{"id": "x", "choi' if cut else data
        data = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data) + (1000 if cut else 0)))
        self.end_headers()
        self.wfile.write(data)
        if cut:
            self.wfile.flush()
            self.close_connection = True

    def _drip(self):
        """A whole answer, its blanks a tenth of a second apart."""
        blanks, data = 30, json.dumps(completion()).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(blanks + len(data)))
        self.end_headers()
        for _ in range(blanks):
            self.wfile.write(b" ")
            self.wfile.flush()
            self.server.release.wait(0.1)
        self.wfile.write(data)
        self.server.dripped = True


def counted(expected):
    """A script that lets calls wait for as many as are expected, and [the most at once]."""
    now, most, lock, reached = [0], [0], threading.Lock(), threading.Event()

    def script(n, body):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        if most[0] >= expected:
            reached.set()
        reached.wait(30)
        time.sleep(0.03)
        with lock:
            now[0] -= 1
        return completion()

    return script, most
