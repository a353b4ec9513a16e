# frozen_string_literal: true

require_relative "common"

module Polycache
  module RemoteClient
    # Configurations of the gem redis-client, which redis-rb is made of since 5.0.
    module RedisClient
      NAMESPACES = "Polycache::RedisNamespace"
      private_constant :NAMESPACES

      module_function

      # @param config [RedisClient::Config]
      def server(config)
        check(config)
        address = config.path || [config.host, config.port]
        Common.settings("single", [address], **common(config))
      end

      # The primary that a Sentinel names. Nobody is asked for it here.
      #
      # @param config [RedisClient::SentinelConfig]
      def sentinel(config)
        check(config)
        Common.refuse_replicas unless given(config, :role) == :master
        Common.settings("sentinel", config.sentinels.map { |one| [one.host, one.port] },
                        **common(config)).merge(sentinel: sentinels(config))
      end

      def sentinels(config)
        all = config.sentinels.map { |one| [given(one, :username), given(one, :password), one.ssl] }
        username, password, ssl =
          Common.same(all, "Sentinels with several passwords, or of which some want TLS")
        Common.refuse("speaks TLS to Sentinels and none to servers") if ssl && !config.ssl
        { name: given(config, :name), username: Common.username_of(username, password),
          password: Common.password_of(password), tls: ssl }
      end

      def common(config)
        { username: given(config, :username), password: given(config, :password),
          database: config.db, tls: (Tls.settings(config.ssl_params) if config.ssl) }
      end

      # As it was given: the readers put a default in its place, and call a Proc.
      def given(config, name) = config.instance_variable_get(:"@#{name}")

      def check(config) = Common.check_driver(config.driver)

      # @param held [Object] whatever a client has
      def refuse_namespaces(held)
        return unless held.respond_to?(:middlewares_stack)
        return if held.middlewares_stack.ancestors.none? { |one| one.name == NAMESPACES }

        Common.refuse_namespaces
      end

      private_class_method :sentinels, :common, :given, :check
    end
    private_constant :RedisClient
  end
end
