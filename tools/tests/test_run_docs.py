from pathlib import Path

from run_docs import ROOT, documents, examples, snippets

TEXT = """# Title

```python
print(1)
```

<!-- not run: needs a server -->
```ts
await connect()
```

```sh
make test
```

```sh
# One more process.
polycache stats -d .cache

polycache clear -d .cache -y
```
"""


def test_blocks_of_languages_are_found_with_their_lines() -> None:
    found = list(snippets("README.md", TEXT))
    assert [(one.name, one.suffix, one.skipped) for one in found] == [
        ("README.md:3", ".py", ""),
        ("README.md:8", ".ts", "needs a server"),
        ("README.md:16", ".sh", ""),
    ]
    assert found[0].code == "print(1)\n"


def test_examples_are_found_but_not_parts_of_others(tmp_path: Path) -> None:
    for name in ["one.py", "one.rs", "_part.rb", "notes.md", "demo/run.sh", "demo/workers/w.py"]:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    assert [file.name for file in examples(tmp_path)] == ["one.py", "one.rs"]


def test_every_page_for_users_is_run() -> None:
    found = documents()
    assert {"README.md", "python/README.md", "docs/redis-namespaces.md"} <= set(found)
    assert len(found) == len(set(found)) and all((ROOT / name).exists() for name in found)
