#!/usr/bin/env bash
# Installs what the report page is made with: a plotting library and a template engine.
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"

needs python
each "python_peers $bench/report"
