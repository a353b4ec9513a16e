#!/usr/bin/env bash
# Installs the peers of the benchmark of Ruby's memory: Debian trixie's, which are plain Ruby.
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"
. "$root/tools/setup/debian.sh"

needs python ruby
each "debian_packages trixie debian/trixie ruby-activesupport ruby-i18n ruby-tzinfo ruby-concurrent \
  ruby-connection-pool ruby-lru-redux"
