#!/usr/bin/env bash
# Installs the peers of the disk caches' benchmark with the ordinary package clients.
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"
disk=$bench/disk

berkeley_db() {
  [ -e /usr/include/db.h ] || apt_install "Berkeley DB, to compile its Python package with" libdb5.3-dev
  python_peers "$disk/berkeleydb"
}

# Python's own dbm.gnu and dbm.ndbm are left out of many builds; Debian's are of the same version (3.11).
debian_dbm() {
  "$TOOLS/venv/bin/python" - "$disk" <<'PYTHON' && return 0
import sys
sys.path.insert(0, sys.argv[1])
from diskbench.debian import module
module("dbm.gnu"), module("dbm.ndbm")
PYTHON
  apt_install "gdbm and ndbm for Python" python3-gdbm
}

needs python
each "python_peers $disk" berkeley_db debian_dbm
