#!/usr/bin/env bash
# Builds the packages of every language for this platform into target/package, and publishes
# nothing. A language that is missing on this machine is left out, named, and written to the file
# `left-out` there, by which the tests of the packages tell it from one that is broken.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$PWD/target/package
rm -rf "$out"
mkdir -p "$out"
# Where cargo leaves a registry of its own beside the crates that it packs.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# can_package LANGUAGE NEED
can_package() {
  tools/setup.sh "$2" && return 0
  local code=$?
  [ $code = 3 ] || exit $code
  echo "package: no $2 here: the $1 package is left out" >&2
  echo "$1" >>"$out/left-out"
  return 1
}

tools/build.sh

# --no-verify: the crates depend on each other and are not published yet, so cargo could not
# build one alone; the workspace build above has just compiled the same sources.
cargo package --no-verify --allow-dirty --quiet --target-dir "$work"
cp "$work"/package/*.crate "$out"

if can_package typescript node; then
  make --no-print-directory typescript-packages
  typescript/package.sh "$out"
fi
if can_package python python; then
  maturin build --profile dist --strip --manifest-path python/native/Cargo.toml --out "$out"
fi
if can_package ruby ruby; then
  ruby/package.sh "$out"
fi

(cd "$out" && ls -lh)
