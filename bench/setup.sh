# What the set-up of every benchmark shares. Sourced by bench/<name>/setup.sh, which `make` starts
# with the tools' folder on PATH. A second run changes nothing. A peer that cannot be had is named
# here, and is a row that says so in the report.
set -euo pipefail

bench=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$bench")
TOOLS=${POLYCACHE_TOOLS:-$root/target/tools}
# shellcheck source=/dev/null
. "$root/tools/setup/common.sh"

# needs NAME...: parts of tools/setup.sh; one that is missing is a row that says so.
needs() {
  local need
  for need in "$@"; do
    "$root/tools/setup.sh" "$need" || [ $? = 3 ]
  done
}

# python_peers FOLDER: what its requirements.txt names, into the tools' virtual environment.
python_peers() {
  local wanted=$1/requirements.txt folder=${1#"$bench"/}
  local stamp=$TOOLS/venv/bench-${folder//\//-}.txt
  cmp -s "$wanted" "$stamp" && return 0
  say "pip install $(grep -v '^#' "$wanted" | tr '\n' ' ')"
  "$TOOLS/venv/bin/python" -m pip install -q --disable-pip-version-check -r "$wanted" &&
    cp "$wanted" "$stamp"
}

# node_peers FOLDER: what its package.json names, as its lock file has it.
node_peers() {
  # npm itself writes the file that is looked at, so it tells which lock file it installed.
  [ "$1/node_modules/.package-lock.json" -nt "$1/package-lock.json" ] && return 0
  # Not npm ci: it refuses the lock file where a registry lacks an optional package of another platform.
  say "npm install (the peers of ${1#"$root"/})"
  (cd "$1" && npm install --no-save --no-audit --no-fund --loglevel=error && touch node_modules/.package-lock.json)
}

# rust_subjects FOLDER NAME: compiles its workspace in release, into target/NAME. The tests, which
# measure nothing, only ask whether it compiles: that takes half as long.
rust_subjects() {
  local command=build
  [ -z "${STRICT:-}" ] || command=check
  CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}/$2 \
    cargo $command --release --locked --quiet --manifest-path "$1/Cargo.toml"
}

# each COMMAND...: runs each (quoted with its arguments); one that fails is said and the others go on.
# With STRICT=1, as the tests run it, the script ends with code 1 then.
# Two worktrees that share a tools folder do not install at the same time.
each() {
  local command failed=0
  exec 9>"$TOOLS/.lock"
  if have flock; then flock 9; fi
  for command in "$@"; do
    # A subshell with its own `set -e`, which `||` would switch off.
    set +e
    (set -e; eval "$command" 9>&-)
    [ $? = 0 ] || { failed=1; say "$command failed: its rows will say so" >&2; }
    set -e
  done
  [ $failed = 0 ] || [ "${STRICT:-0}" != 1 ] || exit 1
}
