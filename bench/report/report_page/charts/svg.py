"""What all pictures share: their colours, their type, and how matplotlib's SVG becomes a part of a
page. Colours are names: matplotlib draws with a stand-in for each, which then becomes a variable of
the page's style sheet, so that one picture serves the light and the dark page."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from xml.etree import ElementTree

import matplotlib
from matplotlib.figure import Figure

INK = "#010101"
MUTED = "#020202"
RULE = "#030303"
OURS = "#040404"
OURS_TOO = "#050505"
PEER = "#060606"
LIMIT = "#070707"
SERIES = tuple(f"#10100{number}" for number in range(1, 9))
VARIABLES = {
    INK: "ink",
    MUTED: "muted",
    RULE: "rule",
    OURS: "ours",
    OURS_TOO: "ours-too",
    PEER: "peer",
    LIMIT: "limit",
    **{color: f"series-{number}" for number, color in enumerate(SERIES, 1)},
}

# Inches. The page shows it up to 1.4 times as large.
WIDTH = 7.6

STYLE = {
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.titlecolor": INK,
    "axes.edgecolor": RULE,
    "axes.labelcolor": MUTED,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "xtick.color": RULE,
    "ytick.color": RULE,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "text.color": INK,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "figure.constrained_layout.use": True,
    # A dollar sign in a subject's name is a dollar sign.
    "text.parse_math": False,
}

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
FONT = re.compile(r"font: (?:(?P<bold>bold|[6-9]00) )?(?P<size>[\d.]+)px [^;]+")


@contextmanager
def figure(name: str, height: float) -> Iterator[Figure]:
    """A figure of the page's width. `height` is in inches; `name` makes its ids its own."""
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": name}):  # type: ignore[dict-item, unused-ignore]
        yield Figure(figsize=(WIDTH, height), facecolor="none")


def markup(drawing: Figure, label: str) -> str:
    """The picture as an element of the page, read aloud as the label."""
    out = io.StringIO()
    drawing.savefig(
        out, format="svg", transparent=True, metadata={"Date": None, "Creator": None, "Type": None}
    )
    root = ElementTree.fromstring(out.getvalue())
    # matplotlib's own style would hold for the whole page, and its metadata names addresses.
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
                parent.remove(child)
    _name_ids(root, hashlib.sha256(label.encode()).hexdigest()[:8])
    for element in root.iter():
        for attribute in ("style", "fill", "stroke"):
            if attribute in element.attrib:
                element.set(attribute, _themed(element.attrib[attribute]))
    for size in ("width", "height"):
        root.attrib.pop(size, None)
    root.set("role", "img")
    root.set("aria-label", label)
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    return ElementTree.tostring(root, encoding="unicode")


def _name_ids(root: ElementTree.Element, prefix: str) -> None:
    """Ids that something refers to are made the picture's own; the others go."""
    used = set(
        re.findall(r"#([\w-]+)", " ".join(v for e in root.iter() for v in e.attrib.values()))
    )
    for element in root.iter():
        name = element.attrib.pop("id", None)
        if name in used:
            element.set("id", f"{prefix}-{name}")
        for attribute, value in element.attrib.items():
            if value.startswith("#") and attribute.endswith("href"):
                element.set(attribute, f"#{prefix}-{value[1:]}")
            else:
                element.set(attribute, value.replace("url(#", f"url(#{prefix}-"))


def _themed(style: str) -> str:
    for color, name in VARIABLES.items():
        style = style.replace(color, f"var(--{name})")

    def font(match: re.Match[str]) -> str:
        weight = "; font-weight: 600" if match["bold"] else ""
        return f"font-size: {match['size']}px{weight}"

    return FONT.sub(font, style)
