#!/usr/bin/env bash
# Installs what Polycache is built and tested with.
#
#   tools/setup.sh                 everything but what few need: chromium, deny, fuzz, pdoc, ...
#   tools/setup.sh ruby redis      only what these need
#   tools/setup.sh --list          the names that can be asked for
#
# Only the ordinary package clients are used (apt, npm, pip). What needs no root goes to the
# folder $POLYCACHE_TOOLS (default: target/tools of this checkout). A second run changes nothing
# and takes well under a second.
#
# Exit codes: 0 all there; 2 wrong usage; 3 something is missing and could not be installed (it
# is named), so that a caller can go on without that language and say so; else a client failed.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOOLS=${POLYCACHE_TOOLS:-$(dirname "$here")/target/tools}
mkdir -p "$TOOLS/bin"
TOOLS=$(cd "$TOOLS" && pwd)
NEEDS="ruby node bun python redis servers clients stores"
# Large, or needed by few: installed only when they are asked for by name.
ON_REQUEST="arm64 arrow chromium deny fuzz msrv node22 opentelemetry pdoc platforms pyright rails typedoc yard zig"

for file in common $NEEDS $ON_REQUEST; do
  # shellcheck source=/dev/null
  . "$here/setup/$file.sh"
done

case "${1:-}" in
  --list) echo "$NEEDS $ON_REQUEST"; exit 0 ;;
  -h | --help) sed -n '2,/^set -/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; exit 0 ;;
esac

for need in ${*:-$NEEDS}; do
  case " $NEEDS $ON_REQUEST " in
    *" $need "*) ;;
    *) echo "setup: '$need' is not one of: $NEEDS $ON_REQUEST" >&2; exit 2 ;;
  esac
done

# Two makes of worktrees that share a tools folder must not install at the same time.
exec 9>"$TOOLS/.lock"
if have flock; then flock 9; fi

missing=()
for need in ${*:-$NEEDS}; do
  # A subshell with its own `set -e`: one language that fails must not hide the state of others.
  set +e
  (set -e; "need_$need" 9>&-)
  code=$?
  set -e
  case $code in
    0) ;;
    "$MISSING") missing+=("$need") ;;
    *) echo "setup: installing what $need needs failed (exit code $code, see above)" >&2; exit "$code" ;;
  esac
done

if ((${#missing[@]})); then
  echo "setup: not available here: ${missing[*]}" >&2
  exit "$MISSING"
fi
