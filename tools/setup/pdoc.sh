# pdoc, which makes the reference of the Python package from its docstrings. It stands in a folder of its
# own, so that the environment of the tests has nothing of it.

PDOC_VERSION=16.0.0

need_pdoc() {
  need_python || return
  local folder=$TOOLS/pdoc
  [ -d "$folder/pdoc-$PDOC_VERSION.dist-info" ] && return 0
  say "pip install pdoc==$PDOC_VERSION (the reference of the Python package)"
  rm -rf "$folder"
  if ! "$TOOLS/venv/bin/python" -m pip install --quiet --disable-pip-version-check \
    --target "$folder" "pdoc==$PDOC_VERSION"; then
    say "missing: pip could not install pdoc" >&2
    return "$MISSING"
  fi
}
