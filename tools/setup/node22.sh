# Node 22, the oldest that the npm package is for: its tests run there too. It is called node22.

need_node22() {
  case $("$TOOLS/bin/node22" --version 2>/dev/null) in v22.*) return 0 ;; esac
  local package
  package=node-$(npm_platform)
  npm_install node22 "Node 22, the oldest that the npm package is for" "$package@22" || return
  ln -sfn "../node22/node_modules/$package/bin/node" "$TOOLS/bin/node22"
  "$TOOLS/bin/node22" --version >/dev/null
}
