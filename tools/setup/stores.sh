# What stores behind the common interface are tested with, besides what python-requirements.txt has: Berkeley DB, its
# library and the package that pip compiles against it.

need_stores() {
  need_python || return
  local python=$TOOLS/venv/bin/python wanted=$here/../bench/disk/berkeleydb/requirements.txt
  ls /usr/include/db.h /opt/homebrew/include/db.h >/dev/null 2>&1 ||
    apt_install "Berkeley DB, which its store is tested with" libdb5.3-dev || return
  "$python" -c "import berkeleydb" 2>/dev/null && return 0
  say "pip install $(grep -v '^#' "$wanted") (tests of Berkeley DB as a store)"
  if ! "$python" -m pip install --quiet --disable-pip-version-check -r "$wanted"; then
    say "missing: pip could not compile berkeleydb" >&2
    return "$MISSING"
  fi
}
