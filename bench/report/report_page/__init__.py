"""One self-contained page of all benchmarks' results: bench/report/README.md."""
