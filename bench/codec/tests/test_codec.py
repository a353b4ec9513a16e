"""What run.py makes of the Rust program, which need not be compiled for it."""

import json
import sys
from pathlib import Path
from stat import S_IXUSR

import pytest

from codec_bench.estimates import medians
from codec_bench.instructions import counted
from codec_bench.lane import CriterionLane, Facts, facts
from codec_bench.plan import by_workload
from codec_bench.program import Program, executable, parse
from harness.lane import Figure
from harness.row import BYTES, NANOSECONDS, PER_SECOND
from harness.worker import Unavailable

# Speaks as the Rust program does: lists, proves, and writes what criterion writes.
FAKE = """#!{python}
import json, os, pathlib
if "CODEC_LIST" in os.environ:
    print("serializers, large/skp-cache")
    raise SystemExit
error = "it lies" if os.environ["CODEC_SUBJECT"].endswith("liar") else None
if os.environ["CODEC_SUBJECT"].endswith("killed"):
    raise SystemExit(9)
if not os.environ["CODEC_SUBJECT"].endswith("stranger"):
    pathlib.Path(os.environ["CODEC_FACTS"]).write_text(json.dumps(dict(
        error=error, notes=["fake"], versions=[["fake", "1"]], times=[["encode", 0]],
        sizes=[["size", 57]])))
if "CRITERION_HOME" in os.environ:
    new = pathlib.Path(os.environ["CRITERION_HOME"], "group", "fake", "new")
    new.mkdir(parents=True)
    (new / "benchmark.json").write_text(json.dumps(dict(value_str="encode")))
    (new / "estimates.json").write_text(json.dumps(dict(median=dict(point_estimate=12.5))))
"""


@pytest.fixture
def program(tmp_path: Path) -> Program:
    path = tmp_path / "fake"
    path.write_text(FAKE.format(python=sys.executable))
    path.chmod(path.stat().st_mode | S_IXUSR)
    return Program(path)


def test_a_round_yields_times_and_sizes(program: Program, tmp_path: Path) -> None:
    lane = CriterionLane(program, "serializers, large", "skp-cache", tmp_path / "lane")
    assert (lane.notes, lane.versions) == (["fake"], {"fake": "1"})
    for _ in range(2):
        assert lane.run("all", 0.01) == [
            Figure("encode", NANOSECONDS, 12.5),
            Figure("size", BYTES, 57),
        ]


@pytest.mark.parametrize(
    ("name", "said"),
    [("liar", "it lies"), ("killed", "code 9"), ("stranger", "no such subject")],
)
def test_a_subject_that_fails_says_why(
    program: Program, tmp_path: Path, name: str, said: str
) -> None:
    with pytest.raises(Unavailable, match=said):
        CriterionLane(program, "throughput", name, tmp_path / "lane")


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        Program(tmp_path / "none").names()


def test_names(program: Program) -> None:
    assert program.names() == [("serializers, large", "skp-cache")]
    assert parse("a/b/c") == ("a", "b/c")


def test_several_at_once_are_operations_per_second() -> None:
    assert Facts({"get, 2 threads": 2}, {}, [], {}).figures({"get, 2 threads": 100.0}) == [
        Figure("get, 2 threads", PER_SECOND, 2e7)
    ]


def test_a_figure_that_is_missing_is_a_failure() -> None:
    with pytest.raises(Unavailable, match="no figure of 'get'"):
        Facts({"get": 0}, {}, [], {}).figures({})


def test_an_error_is_a_failure() -> None:
    with pytest.raises(Unavailable, match="not what it wrote"):
        facts({"error": "not what it wrote"})


def test_medians_of_criterions_files(tmp_path: Path) -> None:
    for name, value in [("set, small", 1.5), ("get, hit", 2.5)]:
        new = tmp_path / "throughput" / "moka" / name / "new"
        new.mkdir(parents=True)
        (new / "benchmark.json").write_text(json.dumps({"value_str": name}))
        (new / "estimates.json").write_text(json.dumps({"median": {"point_estimate": value}}))
    assert medians(tmp_path) == {"set, small": 1.5, "get, hit": 2.5}


def test_the_program_among_cargos_messages() -> None:
    lines = [
        {"reason": "compiler-artifact", "target": {"kind": ["lib"]}, "executable": None},
        {"reason": "compiler-artifact", "target": {"kind": ["bench"]}, "executable": "/x/codec-1"},
        {"reason": "build-finished", "success": True},
    ]
    assert executable("\n".join(map(json.dumps, lines))) == Path("/x/codec-1")
    with pytest.raises(Unavailable):
        executable(json.dumps(lines[2]))


def test_quick_is_a_subset() -> None:
    names = [("throughput", "moka"), ("throughput", "mini-moka"), ("serializers, small", "bincode")]
    assert by_workload(names, quick=True) == {"throughput": ["moka"]}
    assert by_workload(names, quick=False) == {
        "throughput": ["moka", "mini-moka"],
        "serializers, small": ["bincode"],
    }


def test_what_valgrind_counted() -> None:
    said = "==2== I   refs:      1,000\n==1== \n==1== I   refs:      1,234,567\n"
    assert counted(said) == 1_234_567
    with pytest.raises(Unavailable, match="no such file"):
        counted("valgrind: no such file\n")
