"""Walks through pages: a line of a text is a step, what is done or what must be seen.

    == a promise in plain words | what the walk begins with
    click | Clear filters
    sees | #summary | 14 of 14 rows

A verb is a method of `Walk` or of what a test makes of it; sees ignores case and blanks.
"""

import re
from pathlib import Path

import pytest

from browser import violations


def of(file):
    """The walks of a text beside this file as parameters: (what it begins with, its steps)."""
    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    walks = []
    for part in text.split("\n== ")[1:]:
        title, *steps = [line for line in part.splitlines() if line and line[0] != "#"]
        promise, begins = title.split(" | ")
        slow = [pytest.mark.slow] if begins.endswith("(slow)") else []
        begins = begins.removesuffix("(slow)").strip()
        walks.append(pytest.param(begins, steps, id=promise, marks=slow))
    return walks


class Walk:
    """Steps in a page of Playwright, and in further tabs of it."""

    def __init__(self, page):
        self.page, self.tabs = page, [page]

    def take(self, steps):
        for step in steps:
            verb, *given = step.split(" | ")
            try:
                getattr(self, verb)(*given)
            except Exception as e:
                e.add_note(f"in the step: {step}")
                raise

    def click(self, name):
        self.page.get_by_role("button", name=name).locator("visible=true").first.click()

    def at(self, selector, x="", y=""):
        """Click where a selector is, twice at a place of it."""
        place = self.page.locator(selector).first
        place.dblclick(position={"x": int(x), "y": int(y)}) if x else place.click()

    def tick(self, name):
        self.page.get_by_label(name).click()

    def pick(self, name, option):
        begins = re.compile(rf"^{re.escape(name)}(\s|$)")
        self.page.get_by_label(begins).select_option(option)

    def enter(self, name, words):
        """Write into a field, as if by hand."""
        field = self.page.get_by_label(name, exact=True)
        field.fill("")
        field.press_sequentially(words)

    def types(self, words):
        self.page.keyboard.type(words)

    def press(self, *keys):
        """Press keys, each as soon as the page takes it."""
        box = ".bedside-annotation"
        for key in keys:
            self.page.locator(f"html:not(:has({box})), {box}:focus, {box} :focus").first.wait_for()
            self.page.locator('[aria-busy="true"]').wait_for(state="hidden")
            self.page.keyboard.press(key)

    def sees(self, selector, *words):
        for told in words:
            self.page.locator(selector, has_text=told).first.wait_for()

    def whole(self, selector):
        """Nothing of this text is cut off."""
        cut = "box => box.scrollWidth > box.clientWidth"
        assert not self.page.locator(selector).evaluate(cut)

    def lacks(self, selector, words=""):
        self.page.locator(selector, has_text=words).first.wait_for(state="hidden")

    def holds(self, name, words):
        assert self.page.get_by_label(name, exact=True).input_value() == words

    def back(self):
        self.page.go_back()

    def size(self, width, height):
        self.page.set_viewport_size({"width": int(width), "height": int(height)})

    def fair(self, within=None):
        """All can use the page, it fits its window, and no text of others has become part of it."""
        assert violations(self.page, within) == []
        assert self.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert self.page.evaluate("window.hacked") is None

    def reload(self):
        self.page.reload()

    def tab(self, n):
        """Go on in the n-th tab of the page."""
        if int(n) > len(self.tabs):
            self.tabs.append(self.page.context.new_page())
            self.tabs[-1].goto(self.page.url)
        self.page = self.tabs[int(n) - 1]
        self.page.bring_to_front()

    def reopen(self):
        """Close all tabs and open the page once more."""
        old, self.tabs = self.tabs, []
        self.tab(1)
        for page in old:
            page.close()
