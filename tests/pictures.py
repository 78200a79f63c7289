"""The texts of a saved figure (SVG): what they say, how large they are, which box they fill."""

import functools
import re
from xml.etree import ElementTree

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath
from matplotlib.transforms import Affine2D, Bbox

SVG = "{http://www.w3.org/2000/svg}"
DRAWN = re.compile(r"translate\((\S+) (\S+)\) (?:rotate\((\S+)\) )?scale\((\S+) ")
MEASURE = TextToPath()


def read(path):
    """Size of a figure in points, and its texts: (text, size in points, box in points)."""
    keep = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    root = ElementTree.parse(path, keep).getroot()
    size = [float(root.get(side).removesuffix("pt")) for side in ("width", "height")]
    return size, [text for group in root.iter(SVG + "g") for text in _texts(group)]


def faults(path):
    """What is wrong with the texts of a figure: too small, over its edge, over one another."""
    (width, height), texts = read(path)
    found = [f"wider than a page: {width / 72:g} inches"] if width > 9 * 72 else []
    for k, (text, size, box) in enumerate(texts):
        if size < 8.25:  # 11 pixels
            found.append(f"{size:g} points: {text}")
        if box.x0 < 0 or box.y0 < 0 or box.x1 > width or box.y1 > height:
            found.append(f"over the edge: {text}")
        for other, _, its in texts[:k]:
            both = Bbox.intersection(box, its)
            if both and min(both.width, both.height) > 1:
                found.append(f"on one another: {other} | {text}")
    return found


def _texts(group):
    """A group's lines of text, each a comment before the group that draws its glyphs."""
    parts = list(group)
    for said, drawn in zip(parts, parts[1:]):
        if said.tag is ElementTree.Comment and (m := DRAWN.match(drawn.get("transform", ""))):
            x, y, turned, scale = (float(v or 0) for v in m.groups())
            text, size = said.text.strip(), round(100 * scale, 2)  # glyphs are drawn at 100 points
            box = Affine2D().rotate_deg(turned).translate(x, y).transform_bbox(_box(text, size))
            yield text, size, box


@functools.cache
def _box(text, size):
    font = FontProperties(family="DejaVu Sans", size=size)
    width, height, below = MEASURE.get_text_width_height_descent(text, font, False)
    return Bbox([(0, below - height), (width, below)])
