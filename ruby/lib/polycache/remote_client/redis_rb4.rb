# frozen_string_literal: true

require_relative "common"

module Polycache
  module RemoteClient
    # Clients of redis-rb 4, which has connections of its own.
    module RedisRb4
      CONNECTOR = "Redis::Client::Connector"
      private_constant :CONNECTOR

      module_function

      # @param client [Redis::Client]
      def server(client)
        options = client.options
        Common.check_driver(options[:driver])
        # Where a Sentinel leads is written over the options: what was given is here.
        connector = client.instance_variable_get(:@connector)
        case connector.class.name
        when CONNECTOR
          address = options[:path] || [options[:host], options[:port]]
          Common.settings("single", [address], **common(options))
        when "#{CONNECTOR}::Sentinel" then sentinel(connector, options)
        else Common.refuse("has a connector of its own, #{connector.class}")
        end
      end

      def sentinel(connector, options)
        name, role, sentinels = %i[@master @role @sentinels].map do |held|
          connector.instance_variable_get(held)
        end
        Common.refuse_replicas unless role == "master"
        sentinels = sentinels.map { |one| one.transform_keys(&:to_sym) }
        all = sentinels.map { |one| one.values_at(:username, :password) }
        username, password = Common.same(all, "Sentinels with several passwords")
        addresses = sentinels.map { |one| one.values_at(:host, :port) }
        settings = Common.settings("sentinel", addresses, **common(options))
        settings.merge(sentinel: { name: name, username: Common.username_of(username, password),
                                   password: Common.password_of(password),
                                   tls: !settings[:tls].nil? })
      end

      # What a server, or a node of a Cluster, is told.
      #
      # @param options [Hash]
      def common(options)
        encrypted = options[:ssl] || options[:scheme] == "rediss"
        { username: options[:username], password: options[:password], database: options[:db],
          tls: (Tls.settings(options[:ssl_params]) if encrypted) }
      end

      private_class_method :sentinel
    end
    private_constant :RedisRb4
  end
end
