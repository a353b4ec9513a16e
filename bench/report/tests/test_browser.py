"""The pages in Chromium, headless. Pictures of them go to target/report/screenshots."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

TESTS = Path(__file__).resolve().parent
SCREENSHOTS = TESTS.parents[2] / "target" / "report" / "screenshots"

# The first three because a container has neither; the others keep Chromium from calling home.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PHONE, DESKTOP = {"width": 390, "height": 740}, {"width": 1280, "height": 900}
# A4 on its side, without margins, at 96 dots an inch.
PAPER = {"width": 1032, "height": 700}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        path = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Browser, pages: dict[str, str], tmp_path: Path) -> Iterator[object]:
    """Opens a page; afterwards, nothing may have been loaded or complained about."""
    for name, html in pages.items():
        (tmp_path / name).write_text(html, encoding="utf-8")
    said: list[str] = []
    contexts = []

    def opened(viewport: dict[str, int], name: str = "memory", scheme: str = "light") -> Page:
        context = browser.new_context(viewport=viewport, color_scheme=scheme, offline=True)
        contexts.append(context)
        # Only a broken page takes so long, also where others use the machine.
        context.set_default_timeout(180_000)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.append(request.url) if request.url[:5] not in
                ("file:", "data:") else None)  # fmt: skip
        page.goto((tmp_path / f"{name}.html").as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert said == []


def overflow(page: Page) -> int:
    return page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )


def open_all(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("device", "viewport"), [("phone", PHONE), ("desktop", DESKTOP)])
@pytest.mark.parametrize("name", ["index", "memory", "http", "hit-ratio"])
def test_no_page_scrolls_sideways(open_page, name, device, viewport, scheme) -> None:
    page = open_page(viewport, name, scheme)
    assert overflow(page) == 0
    page.screenshot(path=SCREENSHOTS / f"{name}-{device}-{scheme}.png", full_page=True)
    open_all(page)
    assert overflow(page) == 0


PINNED = """() => [...document.querySelectorAll('table.pinned')].map((table) => {
    const box = table.closest('.scroll')
    box.scrollLeft = box.scrollWidth
    const [first, second] = table.querySelector('tbody tr').children
    const left = box.getBoundingClientRect().left
    return {
        scrolls: box.scrollWidth > box.clientWidth,
        first: first.getBoundingClientRect().left - left,
        second: second.getBoundingClientRect().left - first.getBoundingClientRect().right,
        right: second.getBoundingClientRect().right,
        opaque: [first, second].every(
            (one) => getComputedStyle(one).backgroundColor.startsWith('rgb(')),
    }
})"""


@pytest.mark.parametrize("name", ["index", "memory", "codec"])
def test_the_subject_and_the_ratio_stay_on_a_phones_screen(open_page, name) -> None:
    page = open_page(PHONE, name)
    open_all(page)
    tables = page.evaluate(PINNED)
    assert any(one["scrolls"] for one in tables)
    for one in tables:
        assert abs(one["first"]) < 1 and abs(one["second"]) < 1, one
        assert one["right"] <= PHONE["width"] and one["opaque"], one


def test_a_subjects_name_keeps_its_width_on_a_phone(open_page) -> None:
    page = open_page(PHONE)
    open_all(page)
    narrow = "[...document.querySelectorAll('table th:first-child')].map(one => one.clientWidth)"
    assert min(page.evaluate(narrow)) > 90


def test_tables_can_be_scrolled_by_keyboard(open_page) -> None:
    page = open_page(PHONE)
    boxes = "[...document.querySelectorAll('table')].every(one => one.closest('.scroll[tabindex]'))"
    assert page.evaluate(boxes)


def test_everything_is_printed_and_nothing_is_cut(open_page) -> None:
    page = open_page(PAPER)
    page.emulate_media(media="print")
    hidden, wide = page.evaluate(
        """() => {
            const tables = [...document.querySelectorAll('table, .chart svg')]
            const shown = (one) => one.checkVisibility({ contentVisibilityAuto: true }) &&
                one.getBoundingClientRect().height > 0
            const wide = (one) => one.getBoundingClientRect().right > document.body.clientWidth + 1
            const name = (one) => one.parentElement.getAttribute('aria-label')
            return [tables.filter((one) => !shown(one)).map(name), tables.filter(wide).map(name)]
        }"""
    )
    assert (hidden, wide) == ([], [])
    file = SCREENSHOTS / "print.pdf"
    page.pdf(path=file, prefer_css_page_size=True, print_background=True)
    assert file.stat().st_size > 50_000


@pytest.mark.parametrize("name", ["index", "memory", "hit-ratio"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(open_page, name, scheme) -> None:
    page = open_page(DESKTOP, name, scheme)
    worst = page.evaluate((TESTS / "contrast.js").read_text())
    assert worst[0]["ratio"] >= 4.5, worst
