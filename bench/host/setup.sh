#!/usr/bin/env bash
# Installs the peers of the host tier's benchmark with the ordinary package clients, and compiles
# its Rust subjects.
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"
host=$bench/host

ruby_peers() {
  ruby -e 'require "redis"; require "hiredis"' 2>/dev/null && return 0
  apt_install "the Redis client that the Ruby package is measured beside" ruby-redis ruby-hiredis
}

needs python node ruby redis
each "python_peers $host/python" "node_peers $host/node" ruby_peers "rust_subjects $host/rust bench-host"
