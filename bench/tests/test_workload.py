from controller.workload import VALUES, Workload


def read(folder, name):
    return (folder / f"{name}.txt").read_text().splitlines()


def test_reads_and_writes_are_the_same_keys_in_different_orders(tmp_path):
    Workload(100, 500).write(tmp_path / "data")
    writes, reads = read(tmp_path / "data", "writes"), read(tmp_path / "data", "reads")
    assert len(set(writes)) == 500
    assert sorted(writes) == sorted(reads)
    assert writes != reads


def test_values_have_their_size_and_differ(tmp_path):
    Workload(1000, 10).write(tmp_path / "data")
    values = read(tmp_path / "data", "values")
    assert len(set(values)) == VALUES
    assert {len(value) for value in values} == {1000}


def test_two_runs_measure_the_same(tmp_path):
    for name in ("one", "two"):
        Workload(100, 50).write(tmp_path / name)
    for name in ("writes", "reads", "values"):
        assert read(tmp_path / "one", name) == read(tmp_path / "two", name)


def test_a_bounded_store_is_filled_beyond_its_limit():
    for workload in (Workload(100, 10_000), Workload(10_000, 10_000), Workload(100, 500)):
        assert workload.passes * workload.keys * workload.size >= 2 * workload.limit
        assert workload.keys * workload.size < workload.limit


def test_a_store_that_grows_is_filled_once_and_has_room():
    growing = Workload(100, 1_000, room=1 << 30)
    assert (growing.passes, growing.limit) == (1, 1 << 30)


def test_names_a_person_reads():
    assert Workload(100, 1_000_000, room=1).name == "100 B, 1000k keys, growing"
    assert Workload(100, 10_000).name == "100 B, 10k keys"
    assert Workload(10_000, 100).name == "10 KB, 100 keys"
