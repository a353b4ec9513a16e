# axum, the same bytes from memory.
root=$(dirname "${BASH_SOURCE[0]}")/../../..
exec "${CARGO_TARGET_DIR:-$root/target}/release/bench-http-axum" constant
