#!/usr/bin/env bash
# `make demo` after the build: see README.md beside this file.
#
#   INPUT=records.jsonl   another data set: JSON lines, an object a record
#   RECORDS=20000         at most so many records (default 1000)
#   WORKERS="rust python" which workers; a language may come twice (default: one of each)
#   VICTIM=ruby           the worker that is killed (default: any of them)
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/demo.py"
