#!/usr/bin/env bash
# Lets the servers of this folder find what they import: the package of this checkout as it is built,
# and the frameworks and clients that its tests have installed. `make demo-http` and the tests run it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
packages=../../typescript/node_modules
mkdir -p node_modules/@types
ln -sfn ../../../typescript node_modules/polycache
for name in elysia express fastify hono ioredis; do
  [ -d "$packages/$name" ] || { echo "examples/http: no $name: run make typescript-packages" >&2; exit 1; }
  ln -sfn "../$packages/$name" "node_modules/$name"
done
ln -sfn "../../$packages/@types/express" node_modules/@types/express
