# frozen_string_literal: true

require_relative "helper"

# A cache over a client of redis-client, or of redis-rb: a server is found as the client finds it.
class ClientsTest < Minitest::Test
  include Clients

  REDIS_RB = { "redis-rb" => ->(options) { Redis.new(**options) } }.freeze
  REDIS_CLIENT = {
    "a config" => ->(options) { RedisClient.config(**options) },
    "redis-client" => ->(options) { RedisClient.config(**options).new_client },
    "a pool" => ->(options) { RedisClient.config(**options).new_pool(size: 2) }
  }.freeze
  KINDS = (Clients::OWN ? REDIS_RB : REDIS_RB.merge(REDIS_CLIENT)).freeze

  WAYS = {
    "host and port" => ->(server) { { host: "127.0.0.1", port: server.port } },
    "a URL" => ->(server) { { url: "redis://limited:a-secret@127.0.0.1:#{server.port}/2" } },
    "a user" => ->(server) { { port: server.port, **Clients::USER } },
    "a database" => ->(server) { { port: server.port, db: 3 } },
    "a socket" => ->(server) { { path: server.path, db: 1 } },
    "TLS" => lambda do |server|
      { host: "localhost", port: server.tls_port, ssl: true, ssl_params: server.certificates }
    end,
    "TLS by address" => lambda do |server|
      { url: "rediss://127.0.0.1:#{server.tls_port}", ssl_params: server.certificates }
    end,
    "TLS without a look at the certificate" => lambda do |server|
      params = server.certificates(verify_mode: OpenSSL::SSL::VERIFY_NONE).except(:ca_file)
      { host: "localhost", port: server.tls_port, ssl: true, ssl_params: params }
    end
  }.freeze

  KINDS.each do |kind, make|
    WAYS.each do |way, options|
      define_method("test_#{kind} by #{way}") do
        assert_shared(kept(make.call(options.call(@server))))
      end
    end
  end

  def test_user_and_database_are_the_clients
    client = kept(Redis.new(port: @port, db: 4, **Clients::USER))
    cache = listens(open_remote(remote: client))
    cache.set("k", 1)

    assert_equal ["#{@prefix}:::k"], client.keys("#{@prefix}:::*")
    ours = connections.select { |one| one["user"] == "limited" && one["db"] == "4" }

    assert_operator ours.size, :>=, 3, "the client's, the tier's and the listener's"
  end

  def test_the_clients_own_connection_is_not_used
    client = kept(Redis.new(port: @port, id: "the-programs-own"))
    client.set("#{@prefix}-other", "mine")
    before = programs_own
    cache = listens(open_host(remote: client))
    cache.set("k", 1)
    cache.get("k")
    cache.close

    assert_equal 1, before.size
    assert_equal before, programs_own
    assert_equal "mine", client.get("#{@prefix}-other")
  end

  def programs_own
    own = connections.select { |one| one["name"] == "the-programs-own" }
    own.map { |one| one.slice("id", "addr", "flags", "cmd", "redir") }
  end

  def test_a_wrong_password_is_the_servers_matter
    client = kept(Redis.new(port: @port, username: "limited", password: "wrong"))
    cache = open_remote(remote: client)

    assert_nil cache.get("k")
    error = assert_raises(Polycache::RemoteUnavailable) { cache.set("k", 1) }
    assert_match(/authentication failed/i, error.message)
  end

  def over_tls(params)
    kept(Redis.new(host: "localhost", port: @server.tls_port, ssl: true, ssl_params: params))
  end

  def test_a_certificate_of_another_authority
    other = Dir.mktmpdir
    Certificates.write(other)
    params = @server.certificates(ca_file: File.join(other, "ca.pem"))
    cache = open_remote(remote: over_tls(params))

    assert_raises(Polycache::RemoteUnavailable) { cache.set("k", 1) }
    assert_match(/certificate/i, cache.remote_stats[:last_fault])
  ensure
    FileUtils.rm_rf(other)
  end

  def test_a_folder_of_authorities
    folder = Dir.mktmpdir
    hash = OpenSSL::X509::Certificate.new(File.read(@server.file("ca.pem"))).subject.hash
    FileUtils.cp(@server.file("ca.pem"), File.join(folder, format("%08x.0", hash)))
    others = { ca_path: folder, min_version: OpenSSL::SSL::TLS1_2_VERSION }
    params = @server.certificates(**others).except(:ca_file)

    assert_shared(over_tls(params))
  ensure
    FileUtils.rm_rf(folder)
  end

  def test_a_sentinels_primary
    sentinels = [{ host: "127.0.0.1", port: Servers.sentinel(@port) }]
    name = Clients::OWN ? { host: "main" } : { name: "main" }
    options = { **name, sentinels: sentinels, db: 5, **Clients::USER }
    clients = [Redis.new(**options)]
    clients << RedisClient.sentinel(**options) unless Clients::OWN
    clients.each do |client|
      # One that has found the primary names that.
      kept(client).ping if client.respond_to?(:ping)
      assert_shared(client)
    end
    assert(connections.any? { |one| one["user"] == "limited" && one["db"] == "5" })
  end

  def test_a_cluster
    until_true("all nodes know all") do
      Servers.cluster.all? { |port| answer(port, "CLUSTER INFO").include?("cluster_state:ok") }
    end
    nodes = Servers.cluster.map { |port| "redis://127.0.0.1:#{port}" }
    clients =
      if Clients::OWN
        [Redis.new(cluster: nodes)]
      else
        require "redis-clustering"
        config = RedisClient.cluster(nodes: nodes.first(1), replica: true)
        [config, config.new_client, Redis::Cluster.new(nodes: nodes)]
      end
    clients.each { |client| assert_shared(kept(client)) }
  end
end
