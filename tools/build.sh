#!/usr/bin/env bash
# One `cargo build --release` for the whole workspace; then each language gets its native
# extension where its package looks for it. A language that is missing on this machine is left
# out, and named.
#
#   tools/build.sh               builds (use `make build`: it puts the tools' folder on PATH)
#   tools/build.sh --packages    prints only cargo's package flags, for `cargo clippy`
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
TARGET=${CARGO_TARGET_DIR:-target}
TOOLS=${POLYCACHE_TOOLS:-target/tools}

# The languages that can be built here, and cargo's flags to leave the others out.
languages=()
packages=(--workspace)

# extension LANGUAGE NEED CRATE_FOLDER CRATE
extension() {
  if [ ! -d "$3" ]; then
    echo "build: no $3 in this checkout: the $1 extension is left out" >&2
  elif tools/setup.sh "$2" >&2; then
    languages+=("$1")
  elif [ $? = 3 ]; then
    echo "build: no $2 here: the $1 extension is left out" >&2
    packages+=(--exclude "$4")
  else
    exit 1
  fi
}

# put LIBRARY DESTINATION: replaces the file by a rename, because a process that has mapped the
# old one would crash if its bytes changed.
put() {
  local built
  built=$(ls "$TARGET/release/lib$1".{so,dylib} 2>/dev/null | head -n 1 || true)
  [ -n "$built" ] || { echo "build: cargo made no lib$1" >&2; exit 1; }
  cmp -s "$built" "$2" && return 0
  mkdir -p "$(dirname "$2")"
  cp "$built" "$2.new"
  mv "$2.new" "$2"
  echo "build: $2"
}

extension typescript node typescript/native polycache-node
extension python python python/native polycache-python
extension ruby ruby ruby/ext/polycache polycache-ruby

if [ "${1:-}" = --packages ]; then
  echo "${packages[*]}"
  exit 0
fi

# A path that stays the same: pyo3 is compiled anew when it changes.
[ -x "$TOOLS/venv/bin/python" ] && export PYO3_PYTHON=$TOOLS/venv/bin/python
cargo build --release "${packages[@]}"

for language in "${languages[@]}"; do
  case $language in
    typescript) put polycache_node typescript/native/polycache.node ;;
    python) put polycache_python python/src/polycache/_native.abi3.so ;;
    ruby) put polycache_ruby "ruby/lib/polycache/polycache.$(ruby -rrbconfig -e 'print RbConfig::CONFIG["DLEXT"]')" ;;
  esac
done
