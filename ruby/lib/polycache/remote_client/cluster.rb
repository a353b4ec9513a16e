# frozen_string_literal: true

require_relative "common"
require_relative "redis_rb4"

module Polycache
  module RemoteClient
    # Clients of a Cluster. Any of the nodes that they were given leads to all others.
    module Cluster
      module_function

      # @param config [RedisClient::ClusterConfig] of the gem redis-cluster-client
      def redis_client(config)
        if config.command_builder.class.name.to_s.start_with?("Polycache::RedisNamespace")
          Common.refuse_namespaces
        end
        settings(config.startup_nodes.values, config)
      end

      # @param cluster [Redis::Cluster] of redis-rb 4
      def redis_rb4(cluster)
        option = cluster.instance_variable_get(:@option)
        settings(option.per_node_key.values, option)
      end

      def settings(nodes, config)
        unless config.instance_variable_get(:@fixed_hostname).to_s.empty?
          Common.refuse("has a fixed_hostname: a cache goes to nodes by the names that they tell")
        end
        nodes.each { |node| Common.check_driver(node[:driver]) }
        common = Common.same(nodes.map { |node| RedisRb4.common(node) },
                             "nodes with several passwords, or of which some want TLS")
        Common.settings("cluster", nodes.map { |node| node.values_at(:host, :port) }, **common)
      end

      private_class_method :settings
    end
    private_constant :Cluster
  end
end
