#!/usr/bin/env bash
# Installs the clients of the Redis benchmark: Node's with npm, Ruby's from Debian trixie; and Redis.
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"

. "$root/tools/setup/debian.sh"

needs python node bun ruby redis clients
each "node_peers $bench/redis" "debian_packages trixie debian/trixie ruby-redis-client ruby-redis ruby-connection-pool"
