from pathlib import Path

import pytest

import run_docs
from run_docs import ROOT, documents, examples, snippets
from runner.counts import Counts

TEXT = """# Title

```python
print(1)
```

<!-- not run: needs a server -->
```ts
await connect()
```

<!-- needs: rails -->
```ruby
require "rails"
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
    assert [(one.name, one.suffix, one.skipped, one.need) for one in found] == [
        ("README.md:3", ".py", "", ""),
        ("README.md:8", ".ts", "needs a server", ""),
        ("README.md:13", ".rb", "", "rails"),
        ("README.md:21", ".sh", "", ""),
    ]
    assert found[0].code == "print(1)\n"


def test_examples_are_found_but_not_parts_of_others(tmp_path: Path) -> None:
    for name in ["one.py", "one.rs", "_part.rb", "notes.md", "demo/run.sh", "demo/workers/w.py"]:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    assert [file.name for file in examples(tmp_path)] == ["one.py", "one.rs"]


def test_what_a_block_needs_is_a_reason_to_skip_it(monkeypatch: pytest.MonkeyPatch) -> None:
    (snippet,) = (one for one in snippets("README.md", TEXT) if one.need)
    asked = []
    monkeypatch.setattr(run_docs, "is_set_up", lambda need: asked.append(need) or need != "rails")
    assert run_docs.run_snippet(snippet) == Counts(skipped=1)
    assert asked == ["ruby", "rails"]


def test_every_page_for_users_is_run() -> None:
    found = documents()
    assert {"README.md", "python/README.md", "docs/redis-namespaces.md"} <= set(found)
    assert len(found) == len(set(found)) and all((ROOT / name).exists() for name in found)
