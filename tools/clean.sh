#!/usr/bin/env bash
# Removes what builds and tests have made. The tools folder is kept: it takes long to fill and
# holds nothing of ours. Remove it by hand (target/tools) to start from nothing.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ -d target ]; then
  find target -mindepth 1 -maxdepth 1 ! -name tools -exec rm -rf {} +
fi
rm -rf typescript/dist typescript/node_modules examples/.cache examples/node_modules
rm -f typescript/native/*.node python/src/polycache/_native.abi3.so ruby/lib/polycache/polycache.{so,bundle}
find python tools examples -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis python/.{mypy,ruff,pytest}_cache python/.hypothesis
