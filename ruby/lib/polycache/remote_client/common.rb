# frozen_string_literal: true

require_relative "tls"

module Polycache
  module RemoteClient
    # What the settings of all kinds of clients have.
    module Common
      # Whether it is this one or the other changes nothing of what is sent.
      DRIVERS = %w[
        RedisClient::RubyConnection RedisClient::HiredisConnection
        Redis::Connection::Ruby Redis::Connection::Hiredis Redis::Connection::Synchrony
      ].freeze
      private_constant :DRIVERS

      module_function

      # @raise [InvalidArgument]
      def refuse(why)
        raise InvalidArgument, "remote is a client that #{why}"
      end

      def refuse_namespaces
        refuse("puts its keys into a namespace, which a cache's connections do not: give it " \
               "without Polycache::RedisNamespace, and a cache the option prefix")
      end

      def refuse_replicas
        refuse("asks Sentinel for replicas: a cache writes, so it needs the primary")
      end

      # @param tls [Hash, nil] what Tls.settings gave
      def settings(topology, addresses, tls:, username: nil, password: nil, database: nil)
        { topology: topology, addresses: addresses, username: username_of(username, password),
          password: password_of(password), database: database.to_i, tls: tls }
      end

      # A user without a password is not told to the server, by no client.
      def username_of(username, password) = (username.to_s unless username.nil? || password.nil?)

      def password_of(password)
        if password.respond_to?(:call)
          refuse("asks a Proc for its password. A cache keeps the one that it is opened with: " \
                 "make the client with a String, and open the cache anew when that changes")
        end
        password&.to_s
      end

      def check_driver(driver)
        # A class, or the name of one of the gem's own.
        return unless driver.is_a?(Module) && !DRIVERS.include?(driver.name)

        refuse("has a driver of its own, #{driver}: a cache's connections would go without it")
      end

      # The one thing that all of a list say.
      def same(list, what)
        first, *others = list.uniq
        refuse("has #{what}") unless others.empty?
        first
      end
    end
    private_constant :Common
  end
end
