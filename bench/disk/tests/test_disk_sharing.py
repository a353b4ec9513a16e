"""Several processes on one store."""

import pytest

from diskbench.sharing import BOTH, GET, NotShared, Sharing


def sharing(kind, folder):
    return Sharing(kind, str(folder), keys=100, size=50, processes=2)


def test_they_see_each_others_writes_and_are_counted_together(files, tmp_path):
    subject = sharing(files, tmp_path)
    try:
        subject.check()
        for name in (GET, BOTH):
            unit, run = subject.operations()[name]
            assert unit == "operations per second"
            assert run(0.02) > 0
    finally:
        subject.close()
    assert not any(member.process.is_alive() for member in subject.members)


def test_what_is_not_there_is_no_measurement(files, tmp_path):
    subject = sharing(files, tmp_path)
    try:
        subject.check()
        for file in (tmp_path / "store").iterdir():
            file.unlink()
        with pytest.raises(RuntimeError, match="operations found nothing"):
            subject.operations()[GET][1](0.02)
        # An answer to that is not taken for one to this.
        assert subject.members[1].ask("get", "000000") is None
    finally:
        subject.close()


def test_a_store_of_one_process_says_why(files, tmp_path):
    class Alone(files):
        alone = "it locks its folder"

    with pytest.raises(NotShared, match="it locks its folder"):
        sharing(Alone, tmp_path)
