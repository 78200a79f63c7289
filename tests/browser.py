"""Headless Chromium for the tests of pages.

The fixture `browser` (conftest.py takes it in), and `watched` for a page in which nothing may go
wrong.
"""

import contextlib
import shutil

import pytest

MISSING = "no Chromium on PATH (Debian: apt install chromium); browser tests skipped"


def binary():
    """The path of a Chromium, None without one."""
    return next(
        (
            path
            for name in ("chromium", "chromium-browser", "google-chrome")
            if (path := shutil.which(name))
        ),
        None,
    )


@pytest.fixture(
    scope="module"
)  # not session: while Playwright's loop lives, asyncio.run fails in every other test
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
    context.set_default_timeout(20_000)
    context.on(
        "request",
        lambda r: r.url.startswith(local) or troubles.append(f"request for {r.url[:200]}"),
    )
    page = context.new_page()
    page.on("pageerror", lambda e: troubles.append(f"page error: {e}"))
    page.on(
        "console",
        lambda m: m.type in ("error", "warning") and troubles.append(f"console: {m.text}"),
    )
    page.on("dialog", lambda d: (troubles.append(f"dialog: {d.message}"), d.dismiss()))
    try:
        yield page
    finally:
        context.close()
    assert not troubles, troubles
