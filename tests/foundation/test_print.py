"""index.html in a real browser: no figure is cut in a PDF, nothing runs out of a phone's page."""

import pytest

from bedside import paths
from browser import watched

INDEX = paths.FIGURES / "sample" / "index.html"
# A word at the head and one at the foot of every figure: in a PDF they tell its ends' pages.
MARKS = """() => document.querySelectorAll('figure').forEach((f, k) => {
  const word = text => Object.assign(document.createElement('div'), {textContent: text + k + 'x'});
  f.querySelector('img').before(word('head'));
  f.querySelector('img').after(word('foot'));
})"""
WIDE = "[...document.images].filter(i => i.getBoundingClientRect().right > innerWidth + 1).length"
CUT = """@media print {
  figure, img { break-inside: auto !important; max-height: none !important; }
  img { height: 40cm !important; }
}"""


def pages(page):
    """The texts of the pages of the PDF that a page prints to."""
    import pypdfium2

    margins = dict.fromkeys(("top", "bottom", "left", "right"), "1.5cm")
    made = pypdfium2.PdfDocument(page.pdf(format="A4", margin=margins))
    return [p.get_textpage().get_text_bounded() for p in made]


def test_printed_figures_are_whole(browser):
    with watched(browser) as page:
        page.goto(INDEX.as_uri())
        count = page.locator("figure").count()
        page.evaluate(MARKS)
        texts = pages(page)
        assert count > 20
        for k in range(count):
            head, foot = (
                [n for n, text in enumerate(texts) if word in text]
                for word in (f"head{k}x", f"foot{k}x")
            )
            assert head == foot and len(head) == 1, k
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 680, "height": 1000})  # an A4 page between these margins
        assert page.evaluate(WIDE) == 0


def test_a_figure_that_is_cut_is_noticed(browser):
    with watched(browser) as page:
        page.goto(INDEX.as_uri())
        page.evaluate(MARKS)
        page.add_style_tag(content=CUT)
        texts = pages(page)
        assert not any("head0x" in text and "foot0x" in text for text in texts)


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_runs_out_of_the_page(browser, width):
    with watched(browser, width) as page:
        page.goto(INDEX.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("text=explorer.html").first.is_visible()
