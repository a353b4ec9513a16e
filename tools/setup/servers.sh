# The servers besides Debian's Redis 7.0 that namespaces are tested with: Redis 8.0, from Debian trixie with
# the C library that it wants, and Valkey 8.0, from the backports. Each is a program in $TOOLS/bin that takes
# the server's own arguments: redis-server-8, valkey-server.

. "$here/setup/debian.sh"

REDIS_8=redis-server-8
VALKEY=valkey-server

need_servers() {
  need_redis || return
  [ -x "$TOOLS/bin/$REDIS_8" ] || redis_8 || return
  [ -x "$TOOLS/bin/$VALKEY" ] || valkey || return
}

redis_8() {
  debian_packages trixie debian/redis-8 redis-server redis-tools libc6 libssl3t64 libsystemd0 \
    libjemalloc2 liblzf1 libatomic1 libstdc++6 libgcc-s1 libcap2 libzstd1 zlib1g || return
  # Started through its own C library's loader. redis-server is another name of redis-check-rdb, and knows
  # by its name what to be.
  server_program "$REDIS_8" <<'PROGRAM'
root=$bin/../debian/redis-8/usr
loader=$(echo "$root"/lib/*/ld-linux-*.so.*)
exec "$loader" --library-path "$(dirname "$loader")" --argv0 redis-server "$root/bin/redis-check-rdb" "$@"
PROGRAM
}

valkey() {
  debian_packages bookworm-backports debian/valkey valkey-server valkey-tools || return
  server_program "$VALKEY" <<'PROGRAM'
exec "$bin/../debian/valkey/usr/bin/valkey-server" "$@"
PROGRAM
}

# server_program NAME: a script of that name in $TOOLS/bin, with $bin set; says its version once.
server_program() {
  {
    echo '#!/bin/sh'
    echo 'bin=$(cd "$(dirname "$0")" && pwd)'
    cat
  } >"$TOOLS/bin/$1.new"
  chmod +x "$TOOLS/bin/$1.new"
  "$TOOLS/bin/$1.new" --version >/dev/null && mv "$TOOLS/bin/$1.new" "$TOOLS/bin/$1"
}
