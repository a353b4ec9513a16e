# A Redis server binary for tests that start servers of their own on free ports. Debian's package
# also starts one as a service; that is not wanted, so a service that came with our install is
# stopped and switched off again. One that was there before is left alone.

need_redis() {
  have redis-server && have redis-cli && return 0
  apt_install "Redis, which tests of the remote tier start by themselves" redis-server || return
  if have systemctl; then
    local as_root=()
    [ "$(id -u)" = 0 ] || as_root=(sudo)
    say "switching off the redis-server service that came with the package"
    "${as_root[@]}" systemctl disable --now redis-server >/dev/null 2>&1 || true
  fi
}
