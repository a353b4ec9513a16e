#!/usr/bin/env bash
# Installs the peers of the benchmark of namespaces: Debian trixie's, which are plain Ruby and run on older
# Rubies too; redis-namespace is the version of the published page. Clients of Node from npm, and the
# Rust subjects, which are compiled.
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"
. "$root/tools/setup/debian.sh"

namespace=$bench/namespace

needs python ruby node redis clients
each "node_peers $namespace/javascript" "rust_subjects $namespace/rust bench-namespace" "debian_packages trixie debian/trixie \
  ruby-redis-client ruby-redis ruby-redis-namespace ruby-connection-pool ruby-benchmark-ips"
