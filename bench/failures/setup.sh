#!/usr/bin/env bash
# Installs the clients and caches of the failures benchmark: Node's with npm, Rails' cache from Debian trixie; and Redis.
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"

. "$root/tools/setup/debian.sh"

rails="ruby-activesupport ruby-i18n ruby-tzinfo ruby-concurrent"
needs python node ruby redis clients
each "node_peers $bench/failures" \
  "debian_packages trixie debian/trixie ruby-redis-client ruby-redis ruby-connection-pool $rails"
