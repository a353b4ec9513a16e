#!/usr/bin/env bash
# What the measurement of listeners needs: Redis and its client for Python.
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"

needs python redis
each "python_peers $bench/listeners"
