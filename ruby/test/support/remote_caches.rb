# frozen_string_literal: true

require "socket"
require_relative "../redis_namespace/support/servers"

# Caches on a server; each has a directory, or none: each is a host of its own.
module RemoteCaches
  # Seconds that a test waits for what must come to pass.
  PATIENCE = 20

  # The same test on every server that is installed.
  module Everywhere
    def everywhere(name, &body)
      define_method("test_#{name}") { skip "no redis-server here" } if Servers::PROGRAMS.empty?
      Servers::PROGRAMS.each do |program|
        define_method("test_#{name} on #{program}") do
          @port = Servers.port(program)
          instance_exec(&body)
        end
      end
    end

    # On the first of them.
    def somewhere(name, &body)
      define_method("test_#{name}") do
        skip "no redis-server here" if Servers::PROGRAMS.empty?
        @port = Servers.port
        instance_exec(&body)
      end
    end
  end

  def self.included(tests) = tests.extend(Everywhere)

  def setup
    @directory = Dir.mktmpdir("polycache-test")
    @opened = []
    # Tests share servers, so each has keys of its own.
    @prefix = "test-#{Process.pid}-#{object_id}"
  end

  def teardown
    @opened.each(&:close)
    FileUtils.rm_rf(@directory)
  end

  def url = "redis://127.0.0.1:#{@port}"

  # A cache without a directory: its copies are in memory.
  def open_remote(**options)
    # Machines are slow at times, and a command that waits for its turn is no fault.
    defaults = { remote: url, prefix: @prefix, timeout: "5s", lease_timeout: "1h" }
    cache = Polycache::Cache.new(**defaults, **options)
    @opened << cache
    cache
  end

  # A cache with a directory of its own.
  def open_host(**options)
    @hosts = (@hosts || 0) + 1
    open_remote(path: File.join(@directory, @hosts.to_s), limit: "4MiB", **options)
  end

  def until_true(what)
    ends = Process.clock_gettime(Process::CLOCK_MONOTONIC) + PATIENCE
    until yield
      flunk "never: #{what}" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > ends
      sleep 0.002
    end
  end

  # Waits until a cache serves copies.
  def listens(cache)
    until_true("it listens") do
      cache.get("anything")
      cache.remote_stats[:listens]
    end
    cache
  end

  # A command of a client that knows nothing of caches; the first line of its reply.
  def plain(*words)
    TCPSocket.open("127.0.0.1", @port) do |socket|
      socket.write("*#{words.size}\r\n", *words.map { |word| "$#{word.bytesize}\r\n#{word}\r\n" })
      socket.gets.chomp
    end
  end
end
