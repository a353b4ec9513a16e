#!/usr/bin/env bash
# Installs the peers of the memory benchmark with npm.
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"

needs python node bun
each "node_peers $bench/memory"
