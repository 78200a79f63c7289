"""One endpoint of files and batches that behaves as OpenAI publishes that its own does.

    with BatchService() as service:
        entry["base_url"] = service.url

It refuses what OpenAI refuses, where OpenAI does: when a file is uploaded, a batch created or
validated, a request answered. Direct calls get the same answers as batches.
"""

import asyncio
import itertools
import json
import threading

from aiohttp import web

import providers
from batch_objects import CHAT, ENDED, Batch, File, error, refusal, validated

SENT = web.RequestKey("sent", object)  # the JSON of a request, or the bytes of its file
FULL = "Prompt tokens of {0} that may be enqueued at a time: {1:,}. Wait for batches under way."


class Refused(Exception):
    """What a request is refused with: (status, words, param, code), the last two optional."""

    @property
    def response(self):
        status, words, param, code = (*self.args, None, None)[:4]
        kind = "invalid_request_error"
        return _json({"message": words, "type": kind, "param": param, "code": code}, status)


def _body(status, body):
    """The body of an answer: an error may be given with or without what it stands in."""
    return body if status == 200 or "error" in body else {"error": body}


def _json(body, status=200):
    return web.json_response(_body(status, body), status=status)


class BatchService:
    """The endpoint. What it does can be set at any time.

    answer(body): a completion, or (status, error); status None: a line with this error and without
    a response, as after a time-out. polls: how many GETs of a batch see it validating, in progress,
    finalizing, cancelling (a list of batches isn't one); 0: it ends at once. fault(method, path):
    None, (status, error), 'drop' (hang up, before anything is done) or 'drop after' (when it is).

    Of batches created from then on: expire_after, requests that one does before it expires; refuse,
    the (code, words) that one fails validation with; enqueued, the most prompt tokens of a model's
    batches under way.

    files, batches: by id, the oldest first. posts: (path, body, or the bytes of an uploaded file)
    of all that came, refused and dropped ones too.
    """

    def __init__(self):
        self.answer = lambda body: providers.completion(providers.PERSONAS["openai"], body)[0]
        self.polls, self.fault = 1, None
        self.expire_after, self.refuse, self.enqueued = None, None, None
        self.files, self.batches, self.posts = {}, {}, []
        self._count = itertools.count(1)

    def __enter__(self):
        self._loop = asyncio.new_event_loop()  # in one thread, so that batches need no lock
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.url = self._run(self._serve())
        return self

    def __exit__(self, *_):
        self._run(self._runner.cleanup())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def cancel(self, batch_id):
        """Cancel a batch as if somebody did so in the dashboard."""

        async def cancel():
            self._cancel(self.batches[batch_id])

        self._run(cancel())

    def _run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    async def _serve(self):
        app = web.Application(middlewares=[self._door], client_max_size=2**30)
        app.add_routes(
            [
                web.post("/v1/files", self._upload),
                web.get("/v1/files/{id}/content", self._content),
                web.post("/v1/batches", self._create),
                web.get("/v1/batches", self._list_batches),
                web.get("/v1/batches/{id}", self._look),
                web.post(CHAT, self._chat),
            ]
        )
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"

    # ---- what all requests have in common

    @web.middleware
    async def _door(self, request, handler):
        request[SENT] = await _sent(request)
        if request.method == "POST":
            self.posts.append((request.path, request[SENT]))
        fault = self.fault and self.fault(request.method, request.path)
        if isinstance(fault, tuple):
            return _json(fault[1], fault[0])
        if fault != "drop":
            response = await self._response(request, handler)
        if fault:
            request.transport.abort()
            return web.Response()
        return response

    async def _response(self, request, handler):
        try:
            if not request.headers.get("Authorization", "").startswith("Bearer "):
                raise Refused(401, "You didn't provide an API key.")
            return await handler(request)
        except Refused as refused:
            return refused.response
        except web.HTTPException as wrong:  # of the router
            words = f"Invalid URL ({request.method} {request.path})"
            return Refused(wrong.status, words).response

    # ---- files

    def _keep(self, filename, purpose, content):
        file = File(f"file-{next(self._count)}", filename, purpose, content)
        self.files[file.id] = file
        return file

    def _found(self, request):
        if file := self.files.get(name := request.match_info["id"]):
            return file
        raise Refused(404, f"No such File object: {name}", "id")

    async def _upload(self, request):
        form, content = await request.post(), request[SENT]
        if form.get("purpose") != "batch" or not isinstance(content, bytes):
            raise Refused(400, "A file is needed, and the purpose batch.", "purpose")
        if not form["file"].filename.endswith(".jsonl"):
            raise Refused(400, "Invalid file format for batches: must be .jsonl")
        return _json(self._keep(form["file"].filename, "batch", content).shown())

    async def _content(self, request):
        return web.Response(body=self._found(request).content)

    # ---- batches

    async def _create(self, request):
        asked = request[SENT]
        if refused := refusal(asked):
            raise Refused(400, *refused)
        if file := self.files.get(asked["input_file_id"]):
            requests, errors = validated(file.content, asked["endpoint"])
        else:
            words = f"Cannot find file {asked['input_file_id']}."
            requests, errors = [], [error("invalid_request", words, "file_id")]
        name = f"batch_{next(self._count)}"
        batch = Batch(name, asked, requests, errors, self.expire_after, self._result)
        if self.refuse:
            batch.errors = [error(*self.refuse)]
        elif not errors and self._full(batch):
            words = FULL.format(batch.model, self.enqueued)
            batch.errors = [error("token_limit_exceeded", words)]
        self.batches[name] = batch
        return self._shown(batch)

    def _full(self, batch):
        """Whether a batch is too much beside those of its model that are under way."""
        going = [b for b in self.batches.values() if b.status not in ENDED and not b.errors]
        tokens = sum(b.prompt_tokens for b in [*going, batch] if b.model == batch.model)
        return self.enqueued is not None and tokens > self.enqueued

    def _result(self, request):
        made = self.answer(request["body"])
        status, body = made if isinstance(made, tuple) else (200, made)
        n = next(self._count)
        line = {"id": f"batch_req_{n}", "custom_id": request["custom_id"]}
        if status is None:
            return {**line, "response": None, "error": body}
        response = {"status_code": status, "request_id": f"req_{n}", "body": _body(status, body)}
        return {**line, "response": response, "error": None}

    def _shown(self, batch):
        while not self.polls and batch.status not in ENDED:
            batch.step()
        if batch.status in ENDED and not batch.files:
            for name, lines in batch.results().items():
                # as UTF-8: a reader that splits at U+2028, too, is wrong
                content = "".join(json.dumps(x, ensure_ascii=False) + "\n" for x in lines).encode()
                if lines:
                    filename = f"{batch.id}_{name}.jsonl"
                    batch.files[name] = self._keep(filename, "batch_output", content).id
        return _json(batch.shown())

    def _batch(self, request):
        if batch := self.batches.get(name := request.match_info["id"]):
            return batch
        raise Refused(404, f"No batch found with id '{name}'.")

    async def _list_batches(self, request):
        found = [b.shown() for b in reversed(self.batches.values())]
        return _json({"object": "list", "data": found, "has_more": False})

    async def _look(self, request):
        batch = self._batch(request)
        batch.look(self.polls)
        return self._shown(batch)

    def _cancel(self, batch):
        if batch.status in ENDED - {"cancelled"}:
            raise Refused(409, f"Cannot cancel a batch with status '{batch.status}'.")
        if batch.status not in ("cancelling", "cancelled"):
            batch.enter("cancelling")
        return self._shown(batch)

    # ---- direct calls

    async def _chat(self, request):
        made = await asyncio.to_thread(self.answer, request[SENT])
        status, body = made if isinstance(made, tuple) else (200, made)
        return _json(body, status or 504)


async def _sent(request):
    """What SENT says; None if it is neither."""
    if request.content_type == "multipart/form-data":
        file = (await request.post()).get("file")
        return file.file.read() if isinstance(file, web.FileField) else None
    try:
        return json.loads(await request.read() or b"{}")
    except ValueError:
        return None
