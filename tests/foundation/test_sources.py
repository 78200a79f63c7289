"""Sources: each thing that can be wrong with a file is one clear error that names it."""

import hashlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bedside import BedsideError
from bedside import __main__ as steps
from bedside.read import paths, sources

ROWS = [{"QID": i, "question": f"q{i}", "category": "x" if i < 2 else "y"} for i in range(3)]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A mirror with one file and a registry entry for it: (mirror, entry, write)."""
    monkeypatch.setattr(paths, "EXTERNAL", tmp_path / "external")
    entry = {
        "github": "owner/repo",
        "revision": "abc",
        "path": "data/set.jsonl",
        "profiles": ["public"],
        "about": "a test",
        "rows": 3,
        "columns": ["QID", "question"],
    }
    monkeypatch.setitem(sources.registry(), "set", entry)
    mirror = tmp_path / "mirror"

    def write(data):
        file = mirror / "github/owner/repo" / entry["path"]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(
            data
            if isinstance(data, bytes)
            else "".join(json.dumps(r) + "\n" for r in data).encode()
        )
        entry["sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
        return file

    write(ROWS)
    yield mirror, entry, write
    sources._frame.cache_clear()


def test_fetched_from_a_mirror_verified_and_loaded(place):
    mirror, *_ = place
    assert sources.fetch("set", mirror) == "fetched" and sources.fetch("set", mirror) == "present"
    frame = sources.load("set")
    assert frame["question"].tolist() == ["q0", "q1", "q2"]
    frame.loc[0, "question"] = "changed"
    assert sources.load("set")["question"][0] == "q0"  # each caller has its own


def broken(place, data, match, **entry):
    mirror, registered, write = place
    write(data)
    registered.update(entry)
    with pytest.raises(sources.SourceError, match=match) as e:
        sources.fetch("set", mirror)
    assert "'set'" in str(e.value)
    assert not sources.where("set")[1].exists()  # nothing wrong is left behind


def test_wrong_hash(place):
    broken(place, ROWS, "sha256 is", sha256="0" * 64)


# `printf 'hello\\n' | git hash-object --stdin`
HELLO = "ce013625030ba8dba906f756967f9e9ca394464a"


def test_a_blob_is_gits(tmp_path):
    (tmp_path / "a").write_bytes(b"hello\n")
    assert sources.blob(tmp_path / "a") == HELLO


def test_the_blob_alone_decides(place):
    mirror, entry, write = place
    file = write([{"QID": 1, "another": "shape"}])
    for checked in ("sha256", "rows", "columns"):
        del entry[checked]
    entry["blob"] = sources.blob(file)
    assert sources.fetch("set", mirror) == "fetched" and len(sources.load("set")) == 1


@pytest.mark.parametrize(
    "content, says",
    [
        (b'{"QID": 1}\n', "is a different file: its git blob is"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n", "is a pointer"),
        (b"/annex/objects/SHA256E-s9--00.json\n", "is a pointer"),
        (b"../.git/annex/objects/a/b/SHA256E-s9--00.json", "is a pointer"),
    ],
)
def test_another_blob_is_refused(place, content, says):
    place[1]["optional"] = True
    broken(place, content, says, blob=HELLO, sha256=hashlib.sha256(content).hexdigest())


def test_too_few_rows(place):
    broken(place, ROWS[:2], "2 rows, expected 3")


def test_a_missing_column(place):
    broken(place, [{"QID": 1}] * 3, "no column 'question'")


def test_wrong_totals_name_the_rows_that_differ(place):
    broken(
        place,
        ROWS,
        r"other numbers of rows by category: x: 2 \(expected 3\); y: 1 \(expected 0\)",
        totals={"category": {"x": 3}},
    )


def test_wrong_encoding(place):
    broken(place, '{"QID": 1, "question": "é"}\n'.encode("latin-1"), "not UTF-8")


def test_no_json(place):
    broken(place, b"{oops\n", "can't be read as jsonl")


def test_a_mirror_without_the_file(place, tmp_path):
    with pytest.raises(sources.SourceError, match="has no github/owner/repo/data/set.jsonl"):
        sources.fetch("set", tmp_path)


def test_a_file_that_was_never_fetched_says_how(place):
    with pytest.raises(sources.SourceError, match="make data"):
        sources.load("set")


def test_a_file_changed_after_the_fetch_is_noticed(place):
    mirror, entry, _ = place
    sources.fetch("set", mirror)
    path = sources.where("set")[1]
    path.write_text(path.read_text().replace("q1", "Q1"))
    sources._frame.cache_clear()
    with pytest.raises(sources.SourceError, match="sha256"):
        sources.load("set")


def test_rows_that_were_never_seen_are_reported(place, tmp_path, monkeypatch, capsys):
    mirror, entry, write = place
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    entry["seen"] = "seen.txt"
    sources.fetch("set", mirror)
    (tmp_path / "seen.txt").write_text("\n".join(sources.row_digests("set", sources.load("set"))))
    assert sources.differing("set") == []
    write(
        [ROWS[0], {**ROWS[1], "question": "another"}, {**ROWS[2], "QID": 99}]
    )  # another QID is no other row
    sources.where("set")[1].unlink()
    sources._frame.cache_clear()
    sources.fetch("set", mirror)
    assert sources.differing("set") == ["1"]


def test_objects_one_after_another(place, tmp_path):
    # pretty-printed JSON objects without commas between them, as the collected myths are released
    mirror, entry, write = place
    write(
        b'{\n "QID": 1,\n "question": "a}{"\n}\n{"QID": 2, "question": "b"}  {"QID": 3,'
        b' "question": ""}'
    )
    entry["format"] = "objects"
    sources.fetch("set", mirror)
    assert sources.load("set")["QID"].tolist() == [1, 2, 3]


def test_unknown_sources_say_the_nearest():
    with pytest.raises(Exception, match="did you mean 'cancer_myth_nfp'"):
        sources.load("cancer_myth_nfpp")


@pytest.mark.parametrize(
    "name", [n for n, e in sources.registry().items() if "file" in e and not e.get("optional")]
)
def test_bundled_sources_are_as_the_registry_says(name):
    assert len(sources.verified(name)) == sources.entry(name)["rows"]


def test_external_sources_are_pinned():
    for name, e in sources.registry().items():
        assert (
            "file" in e
            or "sha256" in e
            or "blob" in e
            or ("rows" in e and "columns" in e and ("totals" in e or e.get("optional")))
        ), name
        assert "file" in e or "huggingface" in e or len(e["revision"]) == 40, name


def test_objects_by_key(place):
    _, entry, write = place
    entry.update(path="data/set.json", format="keyed", columns=["key", "QID", "question"], rows=2)
    mirror = place[0]
    write(
        json.dumps({"k1": {"QID": 1, "question": "a"}, "k2": {"QID": 2, "question": "b"}}).encode()
    )
    sources.fetch("set", mirror)
    assert sources.load("set")["key"].tolist() == ["k1", "k2"] and sources.load("set")[
        "question"
    ].tolist() == ["a", "b"]


class Hub(BaseHTTPRequestHandler):
    """Answers by the last part of the address: a status, half of a file, or nothing for a while."""

    def do_GET(self):
        how = self.path.rpartition("/")[2]
        if how == "late":
            return time.sleep(3)
        self.send_response(int(how) if how.isdigit() else 200)
        self.send_header("Content-Length", "8" if how == "half" else "0")
        self.end_headers()
        if how == "half":
            self.wfile.write(b"half")

    def log_message(self, *_):
        pass


@pytest.mark.parametrize(
    "how, why",
    [("404", "Not Found"), ("429", "Too Many"), ("late", "timed out"), ("half", "4 of 8 bytes")],
)
def test_what_an_address_lacks_is_absent_in_one_line(place, monkeypatch, capsys, how, why):
    _, entry, _ = place
    entry |= {"optional": True, "path": how}
    opened = sources.urllib.request.urlopen
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        monkeypatch.setattr(sources, "GITHUB", address)
        monkeypatch.setattr(sources, "used_by", lambda profile: ["set"])
        most_s = 0.3 if how == "late" else 60
        monkeypatch.setattr(
            sources.urllib.request, "urlopen", lambda url, timeout: opened(url, timeout=most_s)
        )
        steps.data("public", None)
        server.shutdown()
    said = capsys.readouterr().out
    assert said.startswith("absent   set") and said.count("\n") == 1 and why in said
    assert f"{address}/owner/repo/abc/{how}" in said and str(sources.where("set")[1]) in said
    assert not any(sources.where("set")[1].parent.iterdir())  # no part is left


def test_an_optional_source_may_be_absent_but_not_wrong(place, capsys, monkeypatch):
    mirror, entry, write = place
    entry["optional"] = True
    monkeypatch.setattr(sources, "used_by", lambda profile: ["set"])
    steps.data("public", mirror / "elsewhere")
    assert "absent   set (optional" in capsys.readouterr().out and not sources.here("set")
    entry["rows"] = 9
    with pytest.raises(BedsideError, match="3 rows, expected 9"):
        steps.data("public", mirror)
