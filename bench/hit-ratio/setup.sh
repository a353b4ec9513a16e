#!/usr/bin/env bash
# Compiles the simulator.
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"

rust_subjects "$bench/hit-ratio/rust" bench-hit-ratio
