# The Ruby clients of Redis that namespaces are for, and redis-namespace itself, whose data has to go on
# being read. Plain Ruby, from Debian trixie, because older releases have older ones.

. "$here/setup/debian.sh"

need_clients() {
  need_ruby || return
  debian_packages trixie debian/trixie ruby-redis-client ruby-redis ruby-redis-namespace \
    ruby-connection-pool ruby-sidekiq ruby-rack ruby-concurrent ruby-redis-cluster-client
}
