# Bun, from its npm package, which ships the binary.

BUN_VERSION=1.4.4

need_bun() {
  [ -x "$TOOLS/bin/bun" ] && [ "$("$TOOLS/bin/bun" --version 2>/dev/null)" = "$BUN_VERSION" ] && return 0
  npm_install bun "Bun, the second runtime of the TypeScript tests" "bun@$BUN_VERSION" || return
  ln -sfn ../bun/node_modules/bun/bin/bun.exe "$TOOLS/bin/bun"
  ln -sfn bun "$TOOLS/bin/bunx"
  "$TOOLS/bin/bun" --version >/dev/null
}
