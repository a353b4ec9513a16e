#!/usr/bin/env bash
# `make demo-http` after the build: see README.md beside this file.
#
#   SECONDS_EACH=0.5   the length of each of the nine loads (default: 1)
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
"$here/setup.sh"
exec python3 "$here/demo.py"
