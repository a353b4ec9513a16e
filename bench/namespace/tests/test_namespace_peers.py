"""Which peers take part, and where Ruby finds their libraries."""

from pathlib import Path

from namespaces import peers

ROWS = [
    "polycache-namespace",
    "polycache-namespace-on-redis-rb",
    "redis-client",
    "redis-client-namespace",
    "redis-client-namespace-on-redis-rb",
    "redis-namespace",
    "redis-rb",
]


def absent(checkout: str) -> dict[str, str]:
    return {one.name: one.absent for one in peers.subjects(checkout) if one.absent}


def test_every_row_is_there_without_a_checkout() -> None:
    assert sorted(one.name for one in peers.subjects("")) == ROWS


def test_rows_of_the_checkout_say_how_to_give_it() -> None:
    reasons = absent("")
    assert set(reasons) == set(peers.FROM_CHECKOUT)
    assert peers.CHECKOUT in reasons["redis-client-namespace"]


def test_a_folder_that_is_no_checkout_is_said(tmp_path: Path) -> None:
    assert "without lib" in absent(str(tmp_path))["redis-client-namespace"]


def test_a_checkout_is_measured(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    assert not absent(str(tmp_path))


def test_ruby_finds_unpacked_gems_and_the_checkout(tmp_path: Path) -> None:
    tools, checkout = tmp_path / "tools", tmp_path / "checkout"
    gems = tools / "debian" / "trixie" / "usr" / "share" / "rubygems-integration" / "all" / "gems"
    for gem in ("redis-5.3.0", "redis-client-0.22.2"):
        (gems / gem / "lib").mkdir(parents=True)
    found = peers.libraries(tools, str(checkout))["RUBYLIB"].split(":")
    assert {str(folder) for folder in gems.glob("*/lib")} <= set(found)
    assert str(tools / "debian" / "trixie" / "usr" / "lib" / "ruby" / "vendor_ruby") in found
    assert str(checkout / "lib") in found
    assert str(checkout / "lib") not in peers.libraries(tools, "")["RUBYLIB"].split(":")
