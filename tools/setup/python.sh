# A virtual environment with the tools of python-requirements.txt. It is made with the oldest
# Python that we support and find, because that is where newer syntax shows.

need_python() {
  local wanted=$here/setup/python-requirements.txt venv=$TOOLS/venv
  cmp -s "$wanted" "$venv/requirements.txt" && [ -x "$venv/bin/python" ] && return 0
  local python=
  for candidate in python3.11 python3.12 python3.13 python3.14 python3; do
    # A pyenv shim exists for versions that are not switched on, so ask it to run.
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      python=$candidate
      break
    fi
  done
  if [ -z "$python" ]; then
    apt_install "Python 3.11 or newer, with venv" python3 python3-venv || return
    python=python3
  fi
  if [ ! -x "$venv/bin/python" ]; then
    say "python -m venv $venv"
    "$python" -m venv "$venv"
  fi
  say "pip install $(grep -v '^#' "$wanted" | tr '\n' ' ')(tests, types and lint of python/)"
  if ! "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$wanted"; then
    say "missing: pip could not install the tools of $wanted" >&2
    return "$MISSING"
  fi
  cp "$wanted" "$venv/requirements.txt"
}
