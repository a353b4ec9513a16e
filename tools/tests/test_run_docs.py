from run_docs import snippets

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
"""


def test_blocks_of_languages_are_found_with_their_lines() -> None:
    found = list(snippets("README.md", TEXT))
    assert [(one.name, one.suffix, one.skipped) for one in found] == [
        ("README.md:3", ".py", ""),
        ("README.md:8", ".ts", "needs a server"),
    ]
    assert found[0].code == "print(1)\n"
