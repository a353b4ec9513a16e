"""The folder that `make package` fills."""

from __future__ import annotations

from pathlib import Path

import pytest

PACKAGES = Path(__file__).resolve().parents[2] / "target/package"


@pytest.mark.parametrize("suffix", [".crate", ".gem", ".tgz", ".whl", ".tar.gz"])
def test_every_kind_of_package_is_there_and_nothing_else(suffix: str) -> None:
    names = {file.name for file in PACKAGES.iterdir()}
    left_out = (PACKAGES / "left-out").read_text().split() if "left-out" in names else []
    languages = {".gem": "ruby", ".tgz": "typescript", ".whl": "python", ".tar.gz": "python"}
    if languages.get(suffix) in left_out:
        pytest.skip("make package did without that language on this machine")
    assert any(name.endswith(suffix) for name in names)
    known = (".crate", ".gem", ".tgz", ".whl", ".tar.gz", "left-out")
    assert [name for name in sorted(names) if not name.endswith(known)] == []
