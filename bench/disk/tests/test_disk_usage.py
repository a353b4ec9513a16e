"""How much of the disk a folder takes."""

import os
import subprocess

from diskbench.usage import allocated


def test_it_says_what_du_says(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "one").write_bytes(os.urandom(100_000))
    (tmp_path / "inner" / "two").write_bytes(os.urandom(10))
    said = subprocess.run(
        ["du", "--summarize", "--block-size=1", tmp_path],
        capture_output=True,
        text=True,
        check=True,
    )
    assert allocated(tmp_path) == int(said.stdout.split()[0])


def test_holes_take_nothing(tmp_path):
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 30)
    assert allocated(tmp_path) < 1 << 20
