# frozen_string_literal: true

require_relative "helper"
begin
  require "redis_cluster_client"
  require "redis-clustering"
rescue LoadError # The tests are skipped.
  nil
end

# Cached reads over clients of a Cluster: three primaries, each with a replica.
module ReadsOnACluster
  include ReadsOnServers

  # Primaries that were killed are replaced after some seconds.
  PATIENCE = 60

  def setup
    super
    skip "no redis-server or redis-clustering here" if
      Servers::PROGRAMS.first != "redis-server" || !defined?(Redis::Cluster)
    require "polycache/redis_namespace/cluster"
    @ports = Servers.cluster_with_replicas
    # Nodes are primaries until they are told whose replica they are: clients believe what they
    # find.
    wait_for("the Cluster is up") { living.all? { |port| settled?(port) } }
  end

  private

  def nodes = living.map { |port| "redis://127.0.0.1:#{port}" }
  def cluster(**options) = kept(RedisClient.cluster(nodes: nodes, **options).new_client)
  def redis_cluster(**options) = kept(Redis::Cluster.new(nodes: nodes, **options))
  def cluster_pool = kept(RedisClient.cluster(nodes: nodes).new_pool(size: 2))

  # Whether a node knows of three primaries that live, and has caught up with its own, if any.
  def settled?(port)
    nodes = ask(port, "CLUSTER", "NODES").lines.grep(/\bmaster\b/).grep_v(/\bfail/)
    role, _, _, state, = ask(port, "ROLE")
    ask(port, "CLUSTER", "INFO").include?("cluster_state:ok") && nodes.size == 3 &&
      (role == "master" || state == "connected")
  end

  def tried
    yield
  rescue RedisClient::Error, Redis::BaseError
    nil
  end

  def wait_for(what)
    ends = Process.clock_gettime(Process::CLOCK_MONOTONIC) + PATIENCE
    until yield
      flunk "never: #{what}" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > ends
      sleep 0.01
    end
  end

  # What another program asks one node.
  def ask(port, *words)
    client = RedisClient.new(port: port)
    client.call(*words)
  ensure
    client&.close
  end

  def living = @ports.select { |port| tried { ask(port, "PING") } }

  # The port of the primary of a key.
  def owner(key)
    living.find { |port| tried { [ask(port, "GET", key)] } }
  end

  def write(key, value)
    wait_for("#{key} is written") do
      port = owner(key)
      port && tried { ask(port, "SET", key, value) }
    end
  end

  # Begins to move a key's slot; the result moves the key, and ends that.
  def moving(key)
    source = owner(key)
    target = (living - [source]).find { |port| ask(port, "ROLE")[0] == "master" }
    slot = ask(source, "CLUSTER", "KEYSLOT", key)
    from, to = [source, target].map { |port| ask(port, "CLUSTER", "MYID") }
    ask(target, "CLUSTER", "SETSLOT", slot, "IMPORTING", from)
    ask(source, "CLUSTER", "SETSLOT", slot, "MIGRATING", to)
    lambda do
      ask(source, "MIGRATE", "127.0.0.1", target, key, 0, 5000)
      [target, source].each { |port| ask(port, "CLUSTER", "SETSLOT", slot, "NODE", to) }
    end
  end
end
