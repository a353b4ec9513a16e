# TypeDoc, which makes the reference of the TypeScript package from its comments.

TYPEDOC_VERSION=0.28.20
# The package's own, so that both read the same language.
TYPEDOC_TYPESCRIPT_VERSION=6.0.3

need_typedoc() {
  need_node || return
  local installed=$TOOLS/typedoc/node_modules/typedoc/package.json
  grep -qs "\"version\": \"$TYPEDOC_VERSION\"" "$installed" && return 0
  npm_install typedoc "the reference of the TypeScript package" \
    "typedoc@$TYPEDOC_VERSION" "typescript@$TYPEDOC_TYPESCRIPT_VERSION"
}
