"""The colours of figures, on light and on dark pages: one for a message, greys for its context."""

from __future__ import annotations

import re

CARD, INK, SOFT = "#ffffff", "#15191c", "#545c62"
CONTEXT, GRID = "#868e94", "#e3e6e8"
# digits on cells, all light on a dark page (pure black is nothing that an SVG says)
ON_LIGHT, ON_DARK = "#010101", "#fdfdfd"
RED, BLUE, MID = "#b23314", "#0f5f80", "#5b95af"  # harm; ours, or the reference; between
DARK = {
    CARD: "#1a2024",
    INK: "#e8ebec",
    SOFT: "#abb4b9",
    CONTEXT: "#87929a",
    GRID: "#2a3237",
    RED: "#ff9b78",
    BLUE: "#79c6e4",
    MID: "#47829a",
    ON_LIGHT: "#e8ebec",
    ON_DARK: "#e8ebec",
}
FAINTER = {INK: 0.4, RED: 0.7, BLUE: 0.7}  # tints on a dark page, so that light digits stand out
DRAWN = re.compile(r'(fill|stroke)(?:: |=")(#[0-9a-f]{6})')  # as matplotlib writes them in SVG


def tint(colour: str, share: float) -> str:
    """A colour mixed with the card's: a share of 0 is the card, 1 the colour itself."""
    return _mixed(CARD, colour, share)


def _in_dark(colour: str) -> str:
    """What a colour (#rrggbb) is on a dark page; a tint is one of the nearest ink."""
    import numpy as np

    if colour in DARK:
        return DARK[colour]
    card, here = _rgb(CARD), _rgb(colour)
    found = []
    for ink in FAINTER:
        way = _rgb(ink) - card
        share = float(np.clip((here - card) @ way / (way @ way), 0, 1))
        found.append((float(np.linalg.norm(card + share * way - here)), share, ink))
    _, share, ink = min(found)
    return _mixed(DARK[CARD], DARK[ink], FAINTER[ink] * share)


def with_dark(svg: str) -> str:
    """A figure as matplotlib writes it, with a style that gives its colours on a dark screen."""
    rules = "".join(
        f'[style*="{what}: {colour}"],[{what}="{colour}"]{{{what}:{_in_dark(colour)}!important}}'
        for what, colour in sorted(set(DRAWN.findall(svg)))
    )
    dark = f"@media screen and (prefers-color-scheme: dark){{{rules}}}"
    return svg.replace("</style>", f"{dark}</style>", 1)


def _rgb(colour):
    import numpy as np
    from matplotlib.colors import to_rgb

    return np.array(to_rgb(colour))


def _mixed(start, end, share):
    from matplotlib.colors import to_hex

    return to_hex(_rgb(start) + share * (_rgb(end) - _rgb(start)))
