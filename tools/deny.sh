#!/usr/bin/env bash
# What deny.toml asks of the crates in Cargo.lock: `make deny`. The advisories come from the network
# (github.com/RustSec/advisory-db). Where it cannot be reached, a copy from before does; where there is
# none either, everything but the advisories is checked, and that is said.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

checks=(advisories bans licenses sources)
offline=()
if ! said=$(cargo deny --locked fetch db 2>&1); then
  # Offline nothing is fetched at all, nor the crates that only other systems are built from.
  cargo fetch --locked --quiet
  offline=(--offline)
  if compgen -G "${CARGO_HOME:-$HOME/.cargo}/advisory-dbs/*/.git" >/dev/null; then
    echo "deny: the advisories cannot be fetched, the copy from before is used"
  else
    checks=(bans licenses sources)
    echo "deny: ADVISORIES NOT CHECKED: they cannot be fetched: $(grep -m1 fatal <<<"$said" || tail -n 1 <<<"$said")"
  fi
fi
cargo deny --locked "${offline[@]}" check "${checks[@]}"
