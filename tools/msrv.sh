#!/usr/bin/env bash
# Compiles the published crates with the oldest Rust that they promise (`rust-version`), as a program
# that depends on them would: libraries only, with the features that need nothing else.
# polycache-redis-namespace is not among them: its rust-version is redis-rs' own.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
TOOLS=${POLYCACHE_TOOLS:-$PWD/target/tools}
RUSTC=$(cd "$TOOLS" && pwd)/bin/rustc-msrv
export RUSTC
# A compiler of its own, so a folder of its own.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/msrv

cargo check --locked --quiet -p polycache -p polycache-memory -p polycache-derive -p polycache-http \
  --features polycache/derive,polycache/metrics,polycache/tokio,polycache/tracing,polycache-http/axum,polycache-http/tower
echo "$("$RUSTC" --version) compiles the crates"
echo "1 passed, 0 failed, 0 skipped"
