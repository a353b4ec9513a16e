#!/usr/bin/env bash
# Compiles the Rust peers, which cargo fetches from the crates' registry: some 130 crates, two
# to three minutes on two cores the first time.
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"

# Two peers need a newer compiler than the others; without it they are rows that say so.
peers() {
  local target=${CARGO_TARGET_DIR:-$root/target}/bench-codec
  local bench_them=(cargo bench --no-run)
  [ -z "${STRICT:-}" ] || bench_them=(cargo check --release --benches --bins)
  bench_them+=(--locked --quiet --manifest-path "$bench/codec/rust/Cargo.toml")
  [ -d "$target" ] || say "cargo bench --no-run (the peers of bench/codec; minutes the first time)"
  CARGO_TARGET_DIR=$target "${bench_them[@]}" --all-features || CARGO_TARGET_DIR=$target "${bench_them[@]}"
}

each peers
