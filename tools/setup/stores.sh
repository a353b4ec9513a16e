# The system libraries of stores behind the common interface: Berkeley DB, for the `dbm` store.

need_stores() {
  ls /usr/include/db.h /opt/homebrew/include/db.h >/dev/null 2>&1 && return 0
  apt_install "Berkeley DB, which the dbm store is tested with" libdb5.3-dev
}
