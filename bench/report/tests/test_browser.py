"""The page in Chromium, headless. Its pictures go to target/report/screenshots, to be looked at."""

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
PHONE, DESKTOP = {"width": 360, "height": 740}, {"width": 1280, "height": 900}
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
def open_page(browser: Browser, html: str, tmp_path: Path) -> Iterator[object]:
    """Opens the page; afterwards, nothing may have been loaded or complained about."""
    file = tmp_path / "index.html"
    file.write_text(html, encoding="utf-8")
    said: list[str] = []
    contexts = []

    def opened(viewport: dict[str, int], scheme: str = "light") -> Page:
        context = browser.new_context(viewport=viewport, color_scheme=scheme, offline=True)
        contexts.append(context)
        # Only a broken page takes so long, also where others use the machine.
        context.set_default_timeout(180_000)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.append(request.url) if request.url[:5] not in
                ("file:", "data:") else None)  # fmt: skip
        page.goto(file.as_uri())
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
@pytest.mark.parametrize(("name", "viewport"), [("phone", PHONE), ("desktop", DESKTOP)])
def test_the_page_never_scrolls_sideways(open_page, name, viewport, scheme) -> None:
    page = open_page(viewport, scheme)
    assert overflow(page) == 0
    page.screenshot(path=SCREENSHOTS / f"{name}-{scheme}.png", full_page=True)
    open_all(page)
    assert overflow(page) == 0


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(open_page, scheme) -> None:
    page = open_page(DESKTOP, scheme)
    worst = page.evaluate((TESTS / "contrast.js").read_text())
    assert worst[0]["ratio"] >= 4.5, worst
