# frozen_string_literal: true

require_relative "../../ruby/test/redis_namespace/support/clients"

# The server, the primary or the Cluster of this name, of which nothing is asked yet; see
# ../src/reached.rs.
def reached(name)
  kind, ports = name.split(":", 2)
  return name unless %w[cluster sentinel].include?(kind)

  nodes = ports.split(",").map { |port| { host: "127.0.0.1", port: Integer(port) } }
  require "redis_client"
  return RedisClient.sentinel(name: "main", sentinels: nodes) if kind == "sentinel"

  require "redis_cluster_client"
  RedisClient.cluster(nodes: nodes.map { |node| "redis://127.0.0.1:#{node[:port]}" })
end
