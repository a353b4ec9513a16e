#!/usr/bin/env bash
# Builds the tests of the engine and of the Rust package for another Linux than this one, and runs them: those for
# musl as they are, those for ARM64 in QEMU. QEMU on x86-64 shows faults of function, not of weak memory: those
# are for loom (crates/host/src/tests/weak_memory.rs) and the models.
#
#   tools/test_platform.sh musl|arm64 [ARGUMENT...]    the arguments are cargo test's, instead of all crates
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
POLYCACHE_TOOLS=$(cd "${POLYCACHE_TOOLS:-$PWD/target/tools}" && pwd)
bin=$POLYCACHE_TOOLS/bin arm64=$POLYCACHE_TOOLS/debian/arm64
export POLYCACHE_TOOLS

case ${1:-} in
  musl)
    target=x86_64-unknown-linux-musl
    export POLYCACHE_ZIG_TARGET=x86_64-linux-musl
    ;;
  arm64)
    target=aarch64-unknown-linux-gnu
    export POLYCACHE_ZIG_TARGET=aarch64-linux-gnu.2.28
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="$arm64/usr/bin/qemu-aarch64-static -L $arm64/usr/aarch64-linux-gnu"
    ;;
  *) sed -n '2,/^set -/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
shift
# Not the examples of docstrings: rustdoc is of the other compiler.
all=(-p polycache-host -p polycache --tests --no-fail-fast)
if [[ $target == aarch64-* ]]; then
  # What QEMU 7.2 does not do as Linux does: it says that it empties a page in children (MADV_WIPEONFORK), and does not;
  # and a child that is forked beside other threads that fork hangs in QEMU's own locks. What a test starts is run by
  # the system, which knows no program for ARM64, so tests that start themselves again are left out, too. Loom's tests
  # are of no processor, and take hours there.
  all+=(-- --skip weak_memory)
  for test in a_child_that_no_handler_knows_of_joins_anew a_forked_child_counts_its_own_hits_from_the_first_one \
    a_forked_child_that_only_misses_does_not_count_for_its_parent users_that_begin_together_all_get_to_write \
    another_user_s_cache_is_refused_without_a_word_for_it two_processes_of_four_threads_lose_no_count \
    a_killed_process_loses_no_count_and_stops_nobody another_process_listens_when_the_one_that_did_is_killed; do
    all+=(--skip "$test")
  done
fi
(($#)) || set -- "${all[@]}"

# The standard library is built from its source, so no other Rust is asked for.
export RUSTC=$bin/rustc-web RUSTC_BOOTSTRAP=1
# A compiler of its own, so a folder of its own.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/platforms
name=${target//-/_}
export "CC_$name=$PWD/tools/cc-for-platform" "AR_$name=$bin/zig-ar" CRATE_CC_NO_DEFAULTS=1
export "CARGO_TARGET_${name^^}_LINKER=$PWD/tools/cc-for-platform"
# Zig has the C library's beginnings and ends of programs, which Rust has itself for musl alone.
[[ $target != *-musl ]] || export "CARGO_TARGET_${name^^}_RUSTFLAGS=-C link-self-contained=no"

exec cargo test --release -Zbuild-std=std,panic_unwind --target "$target" "$@"
