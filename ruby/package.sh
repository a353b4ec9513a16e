#!/usr/bin/env bash
# Builds the gem, from sources: `gem install` compiles the extension with cargo, so the gem holds
# the crates it is made of. tools/package.sh calls this.
#
#   ruby/package.sh FOLDER    puts polycache-<version>.gem there
set -euo pipefail

out=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.."
gem=$(mktemp -d)
trap 'rm -rf "$gem"' EXIT

# What git knows of, so nothing that was built.
files() { git ls-files -z "$@" | tar --null --files-from - --create --file - | tar --extract --directory "$gem"; }
files crates/entry crates/host crates/polycache ruby LICENSE-*
(cd "$gem" && mv ruby/{lib,sig,ext,polycache.gemspec,README.md} . && rm -r ruby)
# A workspace of its own; the versions are those of the repository's lock file.
cp Cargo.toml Cargo.lock "$gem"
sed -i -e 's|^members = .*|members = ["crates/*", "ext/polycache"]|' -e '/^default-members/d' "$gem/Cargo.toml"
sed -i -e 's|"../../../crates/|"../../crates/|' "$gem/ext/polycache/Cargo.toml"

cd "$gem"
gem build polycache.gemspec
mv polycache-*.gem "$out"
