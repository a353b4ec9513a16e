#!/usr/bin/env bash
# Builds the packages of every language for this platform into target/package, and publishes
# nothing. A language that is missing on this machine is left out, and named.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$PWD/target/package
rm -rf "$out"
mkdir -p "$out"

# can_package LANGUAGE NEED
can_package() {
  tools/setup.sh "$2" && return 0
  local code=$?
  [ $code = 3 ] || exit $code
  echo "package: no $2 here: the $1 package is left out" >&2
  return 1
}

tools/build.sh

# --no-verify: the crates depend on each other and are not published yet, so cargo could not
# build one alone; the workspace build above has just compiled the same sources.
cargo package --no-verify --allow-dirty
cp "${CARGO_TARGET_DIR:-target}"/package/*.crate "$out" 2>/dev/null || true

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

ls -l "$out"
