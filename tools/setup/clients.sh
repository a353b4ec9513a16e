# The Ruby clients of Redis that namespaces and the remote tier are for, and redis-namespace itself, whose data
# has to go on being read. Plain Ruby, from Debian trixie, because older releases have older ones: of redis-rb that one, too.

. "$here/setup/debian.sh"

need_clients() {
  need_ruby || return
  ruby -e 'gem "redis", "~> 4.8"' 2>/dev/null ||
    apt_install "redis-rb 4, which many programs have" ruby-redis || return
  debian_packages trixie debian/trixie ruby-redis-client ruby-redis ruby-redis-namespace \
    ruby-connection-pool ruby-sidekiq ruby-rack ruby-concurrent ruby-redis-cluster-client \
    ruby-redis-clustering
}
