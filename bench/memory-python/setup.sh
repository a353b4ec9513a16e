#!/usr/bin/env bash
# Installs the peers of the benchmark of Python's memory caches with the ordinary package clients.
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"

needs python
each "python_peers $bench/memory-python"
