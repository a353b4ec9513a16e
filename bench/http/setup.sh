#!/usr/bin/env bash
# Installs wrk, and the frameworks, servers and Redis clients of the HTTP benchmark, of JavaScript, Python and Ruby. Next's project is copied
# into a folder under target/, where it is also built, so that no output lies among the sources.
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"
. "$root/tools/setup/debian.sh"
http=$bench/http
project=$root/target/bench-http/next

load_generator() {
  have wrk || apt_install "wrk, which puts load on the servers" wrk
}

# Of the machine's own release, because it is compiled for its Ruby.
rack_server() {
  ruby -e 'gem "puma"' 2>/dev/null || apt_install "Puma, the server of the Rack rows" puma
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

# The package of this checkout: the servers are linked to it. Next's bundler leaves alone only what lies
# in node_modules itself, so there is a copy in its project.
our_package() {
  local typescript=$root/typescript copy=$project/node_modules/polycache
  ln -sfn ../../../typescript "$http/node_modules/polycache"
  rm -rf "$copy"
  mkdir -p "$copy/native"
  cp "$typescript/package.json" "$copy/"
  cp "$typescript"/native/*.cjs "$copy/native/"
  # What the build makes; the tests of this file do without.
  [ ! -d "$typescript/dist" ] || cp -r "$typescript/dist" "$copy/"
  [ ! -f "$typescript/native/polycache.node" ] || cp "$typescript/native/polycache.node" "$copy/native/"
}

needs python node bun ruby redis
each load_generator "node_peers $http" next_project our_package "python_peers $http" rack_server \
  "debian_packages trixie debian/trixie ruby-redis-client ruby-redis ruby-connection-pool"
