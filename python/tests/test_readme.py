"""The README's programs run as they stand."""

import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", README.read_text("utf-8"), re.M | re.S)


@pytest.mark.parametrize("program", PROGRAMS, ids=range(len(PROGRAMS)))
def test_program(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(program, str(README), "exec"), {"__name__": "__main__"})
    assert set(tmp_path.iterdir()) <= {tmp_path / ".cache"}
