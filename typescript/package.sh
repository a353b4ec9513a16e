#!/usr/bin/env bash
# Builds the npm package for this platform: the bundled code with its types, and the native part
# without its debug information, which is nine tenths of it. tools/package.sh calls this.
#
#   typescript/package.sh FOLDER    puts polycache-<version>.tgz there
set -euo pipefail

out=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")"
[ -f native/polycache.node ] || { echo "package: make build comes first" >&2; exit 1; }
package=$(mktemp -d)
trap 'rm -rf "$package"' EXIT

npm run --silent build
mkdir "$package/native"
cp -r package.json README.md ../LICENSE-MIT ../LICENSE-APACHE dist "$package"
strip -o "$package/native/polycache.node" native/polycache.node

cd "$package"
npm pack --silent --pack-destination "$out"
