#!/usr/bin/env bash
# Builds the npm packages: `polycache`, which is JavaScript and types for every platform, and
# `@polycache/<platform>`, the native part for this one without its debug information.
#
#   typescript/package.sh FOLDER [LIBRARY [PLATFORM]]    puts two tarballs there, the native part's first
#
# LIBRARY is a native part that is built already; without it cargo builds one to be published. With a PLATFORM it is one
# for that (native/load.cjs lists them), and stripped by its builder.
set -euo pipefail

out=$(cd "$1" && pwd)
library=${2:-}
[ -z "$library" ] || library=$(realpath "$library")
cd "$(dirname "${BASH_SOURCE[0]}")"
packages=$(mktemp -d)
trap 'rm -rf "$packages"' EXIT

if [ -z "$library" ]; then
  cargo build --quiet --profile dist -p polycache-node
  library=$(ls "${CARGO_TARGET_DIR:-../target}"/dist/libpolycache_node.{so,dylib} 2>/dev/null | head -n 1)
fi
platform=${3:-$(node manifest.mjs --here)}
mkdir -p "$packages"/{main/native,native}
cp ../LICENSE-MIT ../LICENSE-APACHE "$packages/main"
cp ../LICENSE-MIT ../LICENSE-APACHE "$packages/native"

node manifest.mjs "$platform" >"$packages/native/package.json"
echo "The native part of [polycache](https://www.npmjs.com/package/polycache) for $platform. npm installs it by itself." \
  >"$packages/native/README.md"
if [ -n "${3:-}" ]; then
  cp "$library" "$packages/native/polycache.node"
else
  strip -o "$packages/native/polycache.node" "$library"
fi

make --no-print-directory -C .. typescript-dist
node manifest.mjs >"$packages/main/package.json"
cp -r README.md bin dist "$packages/main"
cp native/load.cjs "$packages/main/native"

for package in native main; do
  (cd "$packages/$package" && npm pack --silent --pack-destination "$out")
done
