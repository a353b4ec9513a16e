import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from run_mutants import ROOT, Mutant, Trial, choose, copy_sources, parse

TEXT = """Fault: the answer is wrong
Build: true
Found by: grep -q 42 answer
Quick: yes

--- a/answer
+++ b/answer
@@ -1 +1 @@
-42
+41
"""


@pytest.fixture
def mutant() -> Mutant:
    return parse("answer", TEXT)


@pytest.fixture
def trial(tmp_path: Path) -> Trial:
    (tmp_path / "answer").write_text("42\n")
    return Trial(tmp_path)


def test_a_fault_that_the_check_sees_is_found(trial: Trial, mutant: Mutant) -> None:
    assert trial.try_mutant(mutant) == ""


def test_the_sources_are_restored(trial: Trial, mutant: Mutant) -> None:
    trial.try_mutant(mutant)
    assert (trial.tree / "answer").read_text() == "42\n"


def test_a_blind_check_lets_the_fault_survive(trial: Trial, mutant: Mutant) -> None:
    assert "survived" in trial.try_mutant(replace(mutant, found_by=("true",)))


def test_each_of_two_checks_must_see_the_fault(trial: Trial) -> None:
    also = TEXT.replace("Quick: yes", "Also found by: {}")
    assert trial.try_mutant(parse("answer", also.format("grep -q 2 answer"))) == ""
    assert "survived: true" in trial.try_mutant(parse("answer", also.format("true")))


def test_a_check_that_always_fails_shows_nothing(trial: Trial, mutant: Mutant) -> None:
    assert "without the fault too" in trial.try_mutant(replace(mutant, found_by=("false",)))


def test_a_fault_that_does_not_compile_is_not_found(trial: Trial, mutant: Mutant) -> None:
    assert "compile" in trial.try_mutant(replace(mutant, build="false"))


def test_a_patch_that_no_longer_applies_fails(trial: Trial, mutant: Mutant) -> None:
    (trial.tree / "answer").write_text("421\n")
    assert "apply" in trial.try_mutant(mutant)
    assert (trial.tree / "answer").read_text() == "421\n"


@pytest.mark.parametrize("kept", choose([]), ids=lambda kept: kept.name)
def test_every_fault_can_still_be_planted(kept: Mutant) -> None:
    """Whether it is found takes long; `make mutants` shows that."""
    assert Trial(ROOT).applies(kept)


def test_a_mutant_without_a_check_is_refused() -> None:
    with pytest.raises(ValueError, match="Found by"):
        parse("answer", TEXT.replace("Found by", "Found"))


def test_the_copy_holds_what_git_knows_and_nothing_else(tmp_path: Path) -> None:
    source, tree = tmp_path / "source", tmp_path / "tree"
    source.mkdir()
    tree.mkdir()
    for name in ("kept", "unknown"):
        (source / name).write_text(name)
    (tree / "left-over").write_text("")
    subprocess.run(["git", "init", "-q"], cwd=source, check=True)
    subprocess.run(["git", "add", "kept"], cwd=source, check=True)
    copy_sources(source, tree)
    assert [file.name for file in tree.iterdir()] == ["kept"]


def test_a_file_that_had_a_fault_is_compiled_again(tmp_path: Path) -> None:
    """Its copy must be newer than what was compiled of it; what did not change keeps its time."""
    source, tree = tmp_path / "source", tmp_path / "tree"
    source.mkdir()
    tree.mkdir()
    for name in ("same", "faulty"):
        (source / name).write_text(name)
        os.utime(source / name, (1, 1))
        (tree / name).write_text(name)
        os.utime(tree / name, (2, 2))
    (tree / "faulty").write_text("fault")
    os.utime(tree / "faulty", (3, 3))
    subprocess.run(["git", "init", "-q"], cwd=source, check=True)
    subprocess.run(["git", "add", "."], cwd=source, check=True)
    copy_sources(source, tree)
    assert (tree / "same").stat().st_mtime == 2
    assert (tree / "faulty").read_text() == "faulty"
    assert (tree / "faulty").stat().st_mtime > 3
