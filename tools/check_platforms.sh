#!/usr/bin/env bash
# Type-checks the crates, and the native parts of the Python and the Node package, for systems that are not at hand:
# `cargo check`, with the standard library checked from its source as well. Nothing is
# linked and nothing runs; what these systems do with a directory is tested on Linux, in
# crates/host/src/platform.
#
#   tools/check_platforms.sh [TARGET...]    without any: all of them
#
# Ruby's extension is not among them: its build script asks the Ruby of the target for its headers.
# Neither is Node's for x86_64-pc-windows-gnu: its build script wants a libnode.dll, and Node itself is
# built by Visual C++ there.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
bin=${POLYCACHE_TOOLS:-$PWD/target/tools}/bin

TARGETS="aarch64-apple-darwin x86_64-apple-darwin x86_64-pc-windows-gnu x86_64-pc-windows-msvc"
CRATES="polycache polycache-cli polycache-derive polycache-redis-namespace polycache-python"

export PATH=$bin:$PATH
export RUSTC=$bin/rustc-web RUSTC_BOOTSTRAP=1
# A compiler of its own, so a folder of its own.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/platforms
# The C of zstd and ring is compiled, not linked. Zig knows the target by its name, and has the headers:
# no SDK of Apple's is asked for, and MinGW's headers stand for those of Visual C++.
export SDKROOT=/ CRATE_CC_NO_DEFAULTS=1

zig_target() {
  case $1 in
    *-windows-*) echo "${1%%-*}-windows-gnu" ;;
    *-darwin) echo "${1%%-*}-macos" ;;
  esac
}

zig_archiver() {
  case $1 in
    *-msvc) echo zig-lib ;;
    *) echo zig-ar ;;
  esac
}

crates() {
  printf -- '-p %s ' $CRATES
  case $1 in
    *-windows-gnu) ;;
    *) echo "-p polycache-node" ;;
  esac
}

passed=0 failed=0
# shellcheck disable=SC2086
for target in ${*:-$TARGETS}; do
  name=${target//-/_}
  export "CC_$name=$bin/zig-cc-$(zig_target "$target")" "AR_$name=$bin/$(zig_archiver "$target")"
  if cargo check --quiet -Zbuild-std=std,panic_abort --target "$target" $(crates "$target"); then
    echo "$target: passes"
    passed=$((passed + 1))
  else
    echo "$target: fails" >&2
    failed=$((failed + 1))
  fi
done
echo "$passed passed, $failed failed, 0 skipped"
((failed == 0))
