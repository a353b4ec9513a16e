# Pyright, the type checker in people's editors, for the test of the wheel: PyPI's package would fetch
# the one of npm anyway.

PYRIGHT_VERSION=1.1.414

need_pyright() {
  local wanted="pyright@$PYRIGHT_VERSION"
  [ -x "$TOOLS/pyright/node_modules/.bin/pyright" ] &&
    grep -qF "\"version\": \"$PYRIGHT_VERSION\"" "$TOOLS/pyright/node_modules/pyright/package.json" && return 0
  need_node || return
  npm_install pyright "types as an editor checks them" "$wanted" || return
}
