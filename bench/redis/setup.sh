#!/usr/bin/env bash
# Installs the clients of the Redis benchmark with npm, and Redis.
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"

needs python node bun redis
each "node_peers $bench/redis"
