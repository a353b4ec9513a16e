# frozen_string_literal: true

require "fileutils"
require "timeout"

require_relative "../support/minitest_alone"
require_relative "support/clients"
require_relative "support/servers"

require "redis_client"
require "polycache/redis_namespace"

# A program that hangs is broken; nothing that works comes near this.
module TimeLimit
  def run(...)
    Timeout.timeout(60) { super }
  end
end
Minitest::Test.prepend(TimeLimit)

# A server that is empty at the start of each test, a client in a namespace and a bare one.
module Namespaced
  # The same tests on another server.
  module OnOthers
    def on(program)
      tests = Class.new(self) { define_method(:port) { Servers.port(program) } }
      Object.const_set("#{name}On#{program.split("-").map(&:capitalize).join}", tests)
    end
  end

  def self.included(tests) = tests.extend(OnOthers)

  attr_reader :bare

  def setup
    skip "no redis-server here" if Servers::PROGRAMS.empty?
    @bare = RedisClient.config(port: port).new_client
    @bare.call("FLUSHALL")
  end

  def teardown
    @bare&.close
  end

  def port = Servers.port

  def client(namespace = "shop", **custom)
    options = { namespace: namespace, **custom }
    RedisClient.config(port: port, middlewares: [Polycache::RedisNamespace],
                       custom: options).new_client
  end

  # Every key of the server.
  def everything = bare.call("KEYS", "*").sort
end
