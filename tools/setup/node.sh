# Node 24, from npm packages that ship the binary, with an npm of its own: an older Node would
# make npm pick older versions of our development dependencies without a word.

NODE_MAJOR=24
NPM_VERSION=11

need_node() {
  if [ -x "$TOOLS/bin/node" ] && [ -x "$TOOLS/bin/npm" ]; then
    case $("$TOOLS/bin/node" --version 2>/dev/null) in v$NODE_MAJOR.*) return 0 ;; esac
  fi
  local package
  package=node-$(npm_platform)
  npm_install node "Node $NODE_MAJOR, which runs the TypeScript tests" \
    "$package@$NODE_MAJOR" "npm@$NPM_VERSION" || return
  ln -sfn "../node/node_modules/$package/bin/node" "$TOOLS/bin/node"
  local tool
  for tool in npm npx; do
    rm -f "$TOOLS/bin/$tool"
    cat >"$TOOLS/bin/$tool" <<WRAPPER
#!/bin/sh
# Runs $tool on the Node beside it, also for what $tool itself starts.
bin=\$(cd "\$(dirname "\$0")" && pwd)
PATH="\$bin:\$PATH"
export PATH
exec "\$bin/node" "\$bin/../node/node_modules/npm/bin/$tool-cli.js" "\$@"
WRAPPER
    chmod +x "$TOOLS/bin/$tool"
  done
  "$TOOLS/bin/node" --version >/dev/null
}
