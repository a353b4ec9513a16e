# axum, redis-rs.
root=$(dirname "${BASH_SOURCE[0]}")/../../..
exec "${CARGO_TARGET_DIR:-$root/target}/release/bench-http-axum" plain
