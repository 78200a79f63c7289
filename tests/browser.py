"""Headless Chromium for the tests of pages.

The fixture `browser` (conftest.py takes it in), `watched` for a page in which nothing may go wrong,
and `violations`, what axe-core objects to in a page.
"""

import contextlib
import shutil

import pytest

MISSING = "no Chromium on PATH (Debian: apt install chromium); browser tests skipped"


def binary():
    """The path of a Chromium, None without one."""
    found = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    return next(filter(None, found), None)


# Not of the session: while Playwright's loop lives, asyncio.run fails in every other test.
@pytest.fixture(scope="module")
def browser():
    if not binary():
        pytest.skip(MISSING)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=binary(), args=["--no-sandbox", "--disable-gpu"]
        )
        yield running
        running.close()


@contextlib.contextmanager
def watched(browser, width=1280, height=800, local=("file:", "blob:", "data:")):
    """A page of its own profile.

    At the end an error, a warning, a dialog or a request to elsewhere than `local` fails the test.
    """
    troubles = []
    context = browser.new_context(viewport={"width": width, "height": height})
    context.set_default_timeout(120_000)  # however busy this machine is

    def asked(request):
        if not request.url.startswith(local):
            troubles.append(f"request for {request.url[:200]}")

    def told(message):
        if message.type in ("error", "warning"):
            troubles.append(f"console: {message.text}")

    def stopped(dialog):
        troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    context.on("request", asked)
    page = context.new_page()
    page.on("pageerror", lambda error: troubles.append(f"page error: {error}"))
    page.on("console", told)
    page.on("dialog", stopped)
    try:
        yield page
    finally:
        context.close()
    assert not troubles, troubles


def violations(page, within=None):
    """What axe-core finds wrong with a page as it stands now: lines of rule, place, what is wrong.

    By all its rules, best practices too. within: a selector of what alone counts. Colours that
    still change are brought to their end.
    """
    from axe_playwright_python.sync_playwright import Axe

    page.evaluate("document.getAnimations().forEach(a => a.finish())")
    return [
        f"{rule['id']}: {' '.join(map(str, node['target']))}: {node['failureSummary']}"
        for rule in Axe().run(page, context=within).response["violations"]
        for node in rule["nodes"]
    ]
