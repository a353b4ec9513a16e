from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import made_up

from report_page import figures, page

RUN = Path(__file__).resolve().parent.parent / "run.py"


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


def test_nothing_is_loaded_from_anywhere(html: str) -> None:
    tags = Tags(html)
    names = {tag for tag, _ in tags.found}
    assert not names & {"script", "img", "iframe", "object", "embed", "image", "audio", "video"}
    assert [link["href"] for link in tags.named("link")] == ["data:,"]
    assert "@import" not in html
    assert all(target.startswith("#") for target in re.findall(r"url\(['\"]?([^)'\"]*)", html))
    for tag, attributes in tags.found:
        for name, value in attributes.items():
            if tag == "a" or name.startswith("xmlns"):
                continue
            assert "://" not in (value or ""), (tag, name, value)


def test_text_of_results_is_escaped(html: str) -> None:
    assert made_up.HOSTILE not in html
    assert "&lt;script&gt;alert" in html
    assert "it read 1 instead of 2" in html


def test_every_benchmark_has_a_section_with_its_published_tables(html: str) -> None:
    tags = Tags(html)
    sections = [one.get("id") for one in tags.named("section")]
    assert sections[:2] == ["summary", "reading"]
    for name in ("memory", "redis", "namespace", "disk", "http", "codec", "host", "hit-ratio"):
        assert name in sections
    for figure in ("1.34 µs", "161.55 µs", "2,945.3 i/s", "98.7016 s", "1191", "15,172 bytes"):
        assert figure in html
    assert "Apple M3 Pro" in html and "2025-07-29" in html and "Ryzen 5 5600X" in html


def test_won_lost_close_and_empty_are_said_in_words_and_classes(html: str) -> None:
    for words, css in (
        ("won", "won"),
        ("lost", "lost"),
        ("too close", "close"),
        ("to best", "empty"),
    ):
        cell = rf'<td class="{css}"><b>[^<]*{words}'
        assert re.search(cell, html), words
    assert "not built yet: the memory tier in TypeScript" in html
    assert "give a checkout as BLOB_CACHE" in html
    assert "No row of ours yet: it stands empty." in html
    assert "The 3 rows we lose" in html


def test_a_missing_benchmark_says_how_to_measure_it(html: str) -> None:
    assert "<code>make bench-host</code>" in html


def test_quick_runs_are_marked(html: str) -> None:
    memory = html[html.index('<section id="memory"') : html.index('<section id="redis"')]
    disk = html[html.index('<section id="disk"') : html.index('<section id="http"')]
    assert "quick run" in memory and "A quick run:" in memory
    assert "quick run" not in disk


def test_machine_and_versions_are_named(html: str) -> None:
    assert "a made-up processor" in html and "11.2.2" in html and "abc1234" in html


def test_pictures_can_be_read_aloud_and_have_ids_of_their_own(html: str) -> None:
    tags = Tags(html)
    pictures = tags.named("svg")
    # Three of HTTP for each of two loads and the page, hit ratios, growth and tables.
    assert len(pictures) >= 9 + 1 + 3 + 4
    assert all(one["role"] == "img" and one["aria-label"] for one in pictures)
    ids = [attributes["id"] for _, attributes in tags.found if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert "Server latency" in html and "Next latency" in html and "Hit ratio by capacity" in html
    assert "Growth with entries" in html and "Growth with bytes a value" in html
    # Colours are the page's, so that they follow its light and dark.
    assert "fill: var(--ours)" in html and "#040404" not in html


def test_headings_of_tables_have_a_scope(html: str) -> None:
    assert all("scope" in one for one in Tags(html).named("th"))


def test_a_file_that_cannot_be_read_is_said_on_the_page(tmp_path: Path) -> None:
    (tmp_path / "codec.jsonl").write_text("nothing of the kind")
    assert "codec.jsonl cannot be read" in page.render(figures.load(tmp_path))


def test_the_program_writes_the_same_page_again_and_says_where(tmp_path: Path) -> None:
    lines = made_up.lines("codec", made_up.codec())
    (tmp_path / "codec.jsonl").write_text("\n".join(lines))
    out = tmp_path / "new" / "index.html"
    command = [sys.executable, str(RUN), "--results", str(tmp_path), "--out", str(out)]
    environment = os.environ | {"PYTHONPATH": str(RUN.parent.parent)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert str(out) in done.stdout
    assert out.read_text() == page.render(figures.load(tmp_path))
