#!/usr/bin/env bash
# Installs the peers of the host tier's benchmark with the ordinary package clients, and compiles
# its Rust subjects. What cannot be had is named here, and is a row that says so in the report.
# A second run changes nothing. Started by `make bench-host`, which puts the tools' folder on PATH.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
root=$(cd ../.. && pwd)
TOOLS=${POLYCACHE_TOOLS:-$root/target/tools}
# shellcheck source=/dev/null
. "$root/tools/setup/common.sh"

python_peers() {
  cmp -s python/requirements.txt "$TOOLS/venv/bench-host.txt" && return 0
  say "pip install $(grep -v '^#' python/requirements.txt | tr '\n' ' ')"
  "$TOOLS/venv/bin/python" -m pip install -q --disable-pip-version-check -r python/requirements.txt &&
    cp python/requirements.txt "$TOOLS/venv/bench-host.txt"
}

# npm itself writes the file that is looked at, so it tells which lock file it installed.
node_peers() {
  [ node/node_modules/.package-lock.json -nt node/package-lock.json ] && return 0
  # Not npm ci: it refuses the lock file where a registry lacks an optional package of another platform.
  say "npm install (the peers of bench/host/node)"
  (cd node && npm install --no-save --no-audit --no-fund --loglevel=error && touch node_modules/.package-lock.json)
}

ruby_peers() {
  ruby -e 'require "redis"; require "hiredis"' 2>/dev/null && return 0
  apt_install "the Redis client that the Ruby package is measured beside" ruby-redis ruby-hiredis
}

rust_subjects() {
  CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}/bench-host \
    cargo build --release --locked --quiet --manifest-path rust/Cargo.toml
}

for need in python node ruby redis; do
  "$root/tools/setup.sh" "$need" || [ $? = 3 ]
done
# Two worktrees that share a tools folder must not install at the same time.
exec 9>"$TOOLS/.lock"
if have flock; then flock 9; fi
for peers in python_peers node_peers ruby_peers rust_subjects; do
  ("$peers" 9>&-) || say "$peers failed: their rows will say so" >&2
done
