"""The pages themselves: templates filled with the sections and their pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from harness.spread import CLOSE

from .amounts import amount, digits, margin
from .figures import Results
from .pictures import Picture, pictures, published_pictures
from .sections import Section, sections
from .standing import HANDS_OUT, Verdict

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


INDEX = "index.html"


def render(results: dict[str, Results]) -> dict[str, str]:
    """The pages by their file names: a summary, and one for each benchmark. None loads anything."""
    environment = _environment()
    found = sections(results)
    common = {
        "style": Markup("".join((TEMPLATES / one).read_text(encoding="utf-8") for one in STYLE)),
        "sections": found,
        "Verdict": Verdict,
        "HANDS_OUT": HANDS_OUT,
        "close": f"{CLOSE:.0%}".replace("%", " %"),
    }
    pages = {INDEX: environment.get_template("index.html.j2").render(common)}
    for one in found:
        drawn = {"pictures": _pictures(one), "published_pictures": _published(one)}
        page = environment.get_template("bench.html.j2").render(common, section=one, **drawn)
        pages[f"{one.bench.name}.html"] = page
    return pages


def write(results: dict[str, Results], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, html in render(results).items():
        (folder / name).write_text(html, encoding="utf-8")


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "amount": amount,
        "margin": margin,
        "digits": digits,
        "css": CLASSES.__getitem__,
    }
    return environment


def _pictures(one: Section) -> Sequence[tuple[Markup, str, str]]:
    return _marked(pictures(one.bench, one.results) if one.results else [])


def _published(one: Section) -> Sequence[tuple[Markup, str, str]]:
    return _marked(published_pictures(one.bench, one.page) if one.page else [])


def _marked(drawn: Sequence[Picture]) -> list[tuple[Markup, str, str]]:
    """The SVG was written by an XML library, which escaped what it was given."""
    return [(Markup(one.svg), one.title, one.caption) for one in drawn]
