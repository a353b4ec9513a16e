#!/usr/bin/env bash
# Installs wrk, and the frameworks and Redis clients of the HTTP benchmark. Next's project is copied
# into a folder under target/, where it is also built, so that no output lies among the sources.
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"
http=$bench/http
project=$root/target/bench-http/next

load_generator() {
  have wrk || apt_install "wrk, which puts load on the servers" wrk
}

next_project() {
  local sources
  sources=$(cd "$http" && cat $(find next lib -type f | sort) "$root/examples/http/stream.json" | sha256sum)
  mkdir -p "$project"
  if [ "$(cat "$project/sources.sha256" 2>/dev/null)" != "$sources" ]; then
    rm -rf "$project/app" "$project/lib" "$project/.next"
    # Files keep their times: by those it is known whether the packages are up to date.
    cp -rLp "$http/next/." "$project"
    echo "$sources" >"$project/sources.sha256"
  fi
  node_peers "$project"
}

needs node bun redis
each load_generator "node_peers $http" next_project
