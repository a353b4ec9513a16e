# Arrow for Python, which `polycache.arrays` is tested with: 55 MB, so the tests run without it, too.

ARROW_VERSION=26.0.1

need_arrow() {
  need_python || return
  local python=$TOOLS/venv/bin/python
  "$python" -c "import sys, importlib.metadata as packages
sys.exit(packages.version('pyarrow') != '$ARROW_VERSION')" 2>/dev/null && return 0
  say "pip install pyarrow==$ARROW_VERSION (tests of Arrow's tables as values)"
  if ! "$python" -m pip install --quiet --disable-pip-version-check "pyarrow==$ARROW_VERSION"; then
    say "missing: pip could not install pyarrow" >&2
    return "$MISSING"
  fi
}
