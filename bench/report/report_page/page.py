"""The page itself: the template filled with the sections and their pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from harness.spread import CLOSE

from .amounts import amount, digits, times
from .figures import Results
from .pictures import Picture, pictures, published_pictures
from .sections import Section, sections
from .standing import Verdict

TEMPLATES = Path(__file__).resolve().parent / "templates"
STYLE = ("theme.css", "page.css", "print.css")

# What a cell's verdict is called in class names and beside its ratio.
CLASSES = {
    Verdict.OURS: "ours",
    Verdict.WON: "won",
    Verdict.LOST: "lost",
    Verdict.CLOSE: "close",
    Verdict.EMPTY: "empty",
    Verdict.LIMIT: "limit",
    Verdict.FAILED: "failed",
}


def render(results: dict[str, Results]) -> str:
    """One HTML page that loads nothing."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "amount": amount,
        "times": times,
        "digits": digits,
        "css": CLASSES.__getitem__,
    }
    found = sections(results)
    return environment.get_template("page.html.j2").render(
        style=Markup("".join((TEMPLATES / name).read_text(encoding="utf-8") for name in STYLE)),
        sections=found,
        pictures={one.bench.name: _pictures(one) for one in found},
        published_pictures={one.bench.name: _published(one) for one in found},
        Verdict=Verdict,
        close=f"{CLOSE:.0%}".replace("%", " %"),
    )


def _pictures(one: Section) -> Sequence[tuple[Markup, str, str]]:
    return _marked(pictures(one.bench, one.results) if one.results else [])


def _published(one: Section) -> Sequence[tuple[Markup, str, str]]:
    return _marked(published_pictures(one.bench, one.page) if one.page else [])


def _marked(drawn: Sequence[Picture]) -> list[tuple[Markup, str, str]]:
    """The SVG was written by an XML library, which escaped what it was given."""
    return [(Markup(one.svg), one.title, one.caption) for one in drawn]
