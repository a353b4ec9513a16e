from __future__ import annotations

from pathlib import Path

import made_up

from report_page import figures


def test_a_row_that_was_not_measured_says_why() -> None:
    rows = [made_up.row("w", "polycache", "-", "", None, "not built yet; later")]
    one = figures.parse("memory", made_up.lines("memory", rows)).figures[0]
    assert (one.measured, one.is_ours, one.reason) == (False, True, "not built yet; later")


def test_notes_are_taken_apart() -> None:
    rows = [made_up.row("w", "lmdb", "get", "s", 1.0, "none; not compressed")]
    results = figures.parse("disk", made_up.lines("disk", rows, plan="quick, 10 rounds"))
    assert results.figures[0].notes == ("none", "not compressed")
    assert results.quick


def test_a_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    (tmp_path / "disk.jsonl").write_text('{"bench": "disk", "workload": "w"}\n')
    (tmp_path / "http.jsonl").write_text("<<<<<<<\n")
    (tmp_path / "codec.jsonl").write_bytes(b"\xff")
    found = figures.load(tmp_path)
    assert set(found) == {"disk", "http", "codec"}
    assert all(
        one.problem.startswith(f"{one.bench}.jsonl cannot be read") for one in found.values()
    )
