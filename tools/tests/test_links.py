"""That links between the project's pages lead somewhere, their headings included."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LINK = re.compile(r"\[[^\]]*\]\((?!\w+:)([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.M | re.S)
HEADING = re.compile(r"^#+ +(.+)$", re.M)


def pages() -> list[Path]:
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in names.splitlines() if (ROOT / name).exists()]


@cache
def anchors(page: Path) -> set[str]:
    """As GitHub names headings."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    found = (
        re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in HEADING.findall(text)
    )
    return set(found)


def broken(page: Path, text: str) -> list[str]:
    found = []
    for target in LINK.findall(CODE.sub("", text)):
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        missing = not file.exists() or (
            anchor and file.suffix == ".md" and anchor not in anchors(file)
        )
        found += [target] * bool(missing)
    return found


def test_links_lead_somewhere() -> None:
    found = {str(page.relative_to(ROOT)): broken(page, page.read_text()) for page in pages()}
    assert {name: links for name, links in found.items() if links} == {}


def test_a_broken_link_is_found() -> None:
    text = "[a](nowhere.md) [b](#nowhere) [c](README.md#polycache) [d](https://x.invalid) `[e](f)`"
    assert broken(ROOT / "README.md", text) == ["nowhere.md", "#nowhere"]
