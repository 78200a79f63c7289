"""A made-up key is used for a recording and then looked for in every file that the run wrote."""

import json
import os
import subprocess
import sys

from conftest import completion

KEY = "sk-made-up-7f3a9c55e1"


def test_no_key_reaches_a_file_a_log_or_a_notebook(root, endpoint):
    with open(root / "data/models.toml", "a") as f:
        f.write(
            f'\n[remote]\nprovider = "remote"\nbase_url = "{endpoint.url}"\nmodel ='
            ' "m"\napi_key_env = "REMOTE_KEY"\nmax_concurrency = 4\n'
        )
    hostile = '<script>alert(1)</script> {{ 7 * 7 }} {"score": 1} =1+1 \ud83d'
    endpoint.script = lambda n, body: completion(
        hostile if n % 7 else ""
    )  # an empty answer now and then: a failed call
    environment = {**os.environ, "BEDSIDE_ROOT": str(root), "REMOTE_KEY": KEY, "TMPDIR": str(root)}
    record = ["-p", "mode", "record"]
    for arguments in (
        ["run", "cancer_myth/05_judge_agreement"],  # the cards of the judges that are here
        ["run", "cancer_myth/05_judge_agreement", *record, "-p", "judge", "remote"],
        ["run", "cancer_myth/03_evaluation", *record, "-p", "models", "remote", "-p", "limit", "6"],
        ["index"],
    ):
        if arguments[0] == "index":
            environment["BEDSIDE_RUN"] = "sample-remote-limit-6"
        done = subprocess.run(
            [sys.executable, "-m", "bedside", *arguments],
            capture_output=True,
            text=True,
            env=environment,
        )
        assert done.returncode == 0, done.stderr
        assert KEY not in done.stdout + done.stderr
    assert any(f"Bearer {KEY}" in h.values() for h in endpoint.headers)  # it was used
    found = [p for p in root.rglob("*") if p.is_file() and KEY.encode() in p.read_bytes()]
    assert found == []
    shown = [
        html
        for p in root.rglob(".cache/executed/**/*.ipynb")
        for c in json.loads(p.read_text())["cells"]
        for o in c.get("outputs", [])
        for html in o.get("data", {}).get("text/html", [])
    ]
    assert any("&lt;script&gt;alert" in html for html in shown) and not any(
        "<script>alert" in html for html in shown
    )
    pages = list((root / "figures/runs" / environment["BEDSIDE_RUN"]).glob("*.html"))
    assert pages and not any("<script>alert" in p.read_text() for p in pages)
