#!/usr/bin/env bash
# libFuzzer (https://llvm.org/docs/LibFuzzer.html) on the checks in checks/decoders, one after another:
# `make fuzz`. It begins with the seeds and with what earlier runs found worth keeping. An input that
# fails is written to checks/decoders/fuzz/artifacts/<check>; put it into checks/decoders/found/<check>,
# where `make test` gives it to the check ever after.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../checks/decoders"

seconds=${1:-300}
checks=("${@:2}")
[ "${#checks[@]}" != 0 ] ||
  checks=(entry typed header frame keys encrypted with_dictionary dictionary trainer)

# A decoder that takes 64 MiB for 4 KB of input trusts a length, and one that takes 10 s counts for ages.
bounds=(-max_len=4096 -malloc_limit_mb=64 -rss_limit_mb=1024 -timeout=10)
failed=0
cargo run --release --quiet -- fuzz/corpus
# Its own: a nightly compiler and sanitizers share nothing with other builds.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-../../target}/fuzz
# GCC 12 takes a constant array of zstd's for one on the stack, which a second call finds out of scope.
export CFLAGS="${CFLAGS:-} -fno-sanitize-address-use-after-scope"
for check in "${checks[@]}"; do
  echo "--- $check: $seconds s"
  cargo +nightly fuzz run "$check" -- "${bounds[@]}" -max_total_time="$seconds" -verbosity=0 \
    -print_final_stats=1 || failed=1
done
exit "$failed"
