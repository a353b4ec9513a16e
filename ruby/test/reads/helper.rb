# frozen_string_literal: true

require_relative "../redis_namespace/support/clients"
require "test_helper"
require "connection_pool"
require "redis"
require "redis_client"
require "polycache/reads"
require_relative "../support/remote_caches"

# Cached reads over clients of servers that the tests start.
module ReadsOnServers
  include RemoteCaches
  include Children

  def self.included(tests) = tests.extend(RemoteCaches::Everywhere)

  def setup
    super
    @clients = []
  end

  def teardown
    super
    @clients.each(&:close)
  end

  def redis(**options) = kept(Redis.new(port: @port, **options))
  def redis_client(**options) = kept(RedisClient.config(port: @port, **options).new_client)

  def kept(client)
    @clients << client
    client
  end

  # Cached reads without a directory, of a prefix of their own.
  def cached(client, **options)
    # Machines are slow at times, and a command that waits for its turn is no fault.
    reads = Polycache.cached(client, prefix: @prefix, timeout: "5s", **options)
    @opened << reads
    reads
  end

  # With a directory, which some share.
  def cached_on_host(client, host = "host", **options)
    cached(client, path: File.join(@directory, host), limit: "16MiB", **options)
  end

  # Waits until a read is kept.
  def keeping(reads, &read)
    until_true("a read is kept: #{reads.stats}") do
      before = reads.stats[:memory_hits]
      2.times(&read)
      reads.stats[:memory_hits] > before
    end
  end

  # A server that nobody else uses, and its process.
  def own_server(*options)
    pid = nil
    @port = Servers.in_folder do |folder, port|
      [Servers::PROGRAMS.first, "--bind", "127.0.0.1", "--port", port.to_s, "--dir", folder,
       "--save", "", "--pidfile", (pid = File.join(folder, "pid")), *options]
    end
    # It listens before it writes that.
    until_true("it has its number") { File.size?(pid) }
    Integer(File.read(pid))
  end

  def end_of(pid)
    Process.kill("KILL", pid)
    until_true("the server is gone") { !listening? }
  end

  def listening?
    TCPSocket.open("127.0.0.1", @port, &:close)
    true
  rescue SystemCallError
    false
  end
end
