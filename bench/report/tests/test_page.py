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


def test_nothing_is_loaded_from_anywhere(pages: dict[str, str]) -> None:
    html = "".join(pages.values())
    tags = Tags(html)
    names = {tag for tag, _ in tags.found}
    assert not names & {"script", "img", "iframe", "object", "embed", "image", "audio", "video"}
    assert [link["href"] for link in tags.named("link")] == ["data:,"] * len(pages)
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


def test_every_benchmark_has_a_page_that_the_others_lead_to(pages: dict[str, str]) -> None:
    names = ("memory", "redis", "namespace", "disk", "http", "codec", "host", "hit-ratio")
    assert set(pages) >= {"index.html", "of-tomorrow.html", *(f"{name}.html" for name in names)}
    for html in pages.values():
        targets = [link["href"] for link in Tags(html).named("a") if "rel" not in link]
        assert {target for target in targets if target and target[0] != "#"} == set(pages)


def test_a_page_ends_with_the_published_tables(pages: dict[str, str], html: str) -> None:
    for name, figure in (
        ("memory", "1.34 µs"),
        ("redis", "161.55 µs"),
        ("namespace", "2,945.3 i/s"),
        ("disk", "98.7016 s"),
        ("http", "1191"),
        ("codec", "15,172 bytes"),
    ):
        assert figure in pages[f"{name}.html"]
    assert "Apple M3 Pro" in html and "2025-07-29" in html and "Ryzen 5 5600X" in html


def test_a_ratio_is_a_factor_above_one_with_a_sign_and_a_word(pages: dict[str, str]) -> None:
    html = pages["memory.html"]
    # lru-cache takes 0.1 times as long as ours, node-cache 3 times, ts-cache as long.
    assert re.search(r'<td class="lost"><b>▼ 10.0. slower', html)
    assert re.search(r'<td class="won"><b>▲ 3.00. faster', html)
    assert re.search(r'<td class="close"><b>≈ level', html)
    everything = "".join(pages.values())
    ratios = re.findall(r'<td class="(\w+)(?: example)?"><b>([^<]*)', everything)
    signs = {"won": "▲", "lost": "▼", "close": "≈"}
    for css, words in ratios:
        for kind, sign in signs.items():
            assert words.startswith(sign) == (css == kind), (css, words)
        # A factor below 1 would say the opposite of its word.
        assert not re.search(r"\b0\.\d+\W", words), words
        assert (css == "won") == bool(re.search("faster|smaller|fewer$|more hits", words)), words
        assert (css == "lost") == bool(re.search("slower|larger|more$|fewer hits", words)), words
    # Our own rows have no verdict.
    assert ("ours", "ours") in ratios


def test_what_is_empty_says_so(pages: dict[str, str]) -> None:
    assert re.search(r'<td class="empty"><b>1.30. behind', pages["redis.html"])
    assert "not built yet: the memory tier in TypeScript" in pages["memory.html"]
    assert "give a checkout as BLOB_CACHE" in pages["disk.html"]
    assert "No row of ours yet: it stands empty." in pages["namespace.html"]
    assert "The 3 rows we lose" in pages["codec.html"]


def test_the_summary_says_how_a_benchmark_stands(pages: dict[str, str]) -> None:
    row = next(r for r in pages["index.html"].split("<tr>")[1:] if 'href="codec.html"' in r)
    assert "<b>0 of 4</b>" in row and "1 level, 3 not" in row
    # skp-cache takes 1.6 times as long as ours, moka 0.8 times.
    assert re.search("▲ 1.60. faster", row) and re.search("▼ 1.25. slower", row)


def test_peers_come_first_and_limits_are_folded_away(pages: dict[str, str]) -> None:
    table = pages["memory.html"].split('class="others"')[0].rsplit('<table class="ratios">', 1)[1]
    assert "lru-cache" in table and "<small>limit</small>" not in table
    folded = pages["memory.html"].split('class="others"')[1].split("</details>")[0]
    assert "1 limit" in folded and re.search(r">map <small>limit</small>", folded)


def test_a_missing_benchmark_says_how_to_measure_it(html: str) -> None:
    assert "<code>make bench-host</code>" in html


def test_quick_runs_are_marked(pages: dict[str, str]) -> None:
    assert "quick run" in pages["memory.html"] and "A quick run:" in pages["memory.html"]
    assert "quick run" not in pages["disk.html"] and "quick runs" in pages["index.html"]


def test_machine_and_versions_are_named(html: str) -> None:
    assert "a made-up processor" in html and "11.2.2" in html and "abc1234" in html


def test_pictures_can_be_read_aloud_and_have_ids_of_their_own(html: str) -> None:
    tags = Tags(html)
    pictures = tags.named("svg")
    # Three of HTTP for each of two loads and the page, hit ratios, growth and tables.
    assert len(pictures) >= 9 + 1 + 3 + 4
    assert all(one["role"] == "img" and one["aria-label"] for one in pictures)
    assert "Server latency" in html and "Next latency" in html and "Hit ratio by capacity" in html
    assert "Growth with entries" in html and "Growth with bytes a value" in html
    # Colours are the page's, so that they follow its light and dark.
    assert "fill: var(--ours)" in html and "#040404" not in html


def test_ids_of_a_page_are_its_own(pages: dict[str, str]) -> None:
    for html in pages.values():
        ids = [attributes["id"] for _, attributes in Tags(html).found if "id" in attributes]
        assert len(ids) == len(set(ids))


def test_headings_of_tables_have_a_scope(html: str) -> None:
    assert all("scope" in one for one in Tags(html).named("th"))


def test_a_file_that_cannot_be_read_is_said_on_the_page(tmp_path: Path) -> None:
    (tmp_path / "codec.jsonl").write_text("nothing of the kind")
    pages = page.render(figures.load(tmp_path))
    assert "codec.jsonl cannot be read" in pages["codec.html"]
    assert "results cannot be read" in pages["index.html"]


def test_the_program_writes_the_same_pages_again_and_says_where(tmp_path: Path) -> None:
    lines = made_up.lines("codec", made_up.codec())
    (tmp_path / "codec.jsonl").write_text("\n".join(lines))
    out = tmp_path / "new"
    command = [sys.executable, str(RUN), "--results", str(tmp_path), "--out", str(out)]
    environment = os.environ | {"PYTHONPATH": str(RUN.parent.parent)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert str(out / "index.html") in done.stdout
    pages = {file.name: file.read_text() for file in out.iterdir()}
    assert pages == page.render(figures.load(tmp_path))
