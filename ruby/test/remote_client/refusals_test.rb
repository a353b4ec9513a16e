# frozen_string_literal: true

require_relative "helper"

# What native connections cannot have is said at once.
class RefusalsTest < Minitest::Test
  include Clients

  def self.redis_client(name, &)
    define_method("test_#{name}", &) unless Clients::OWN
  end

  def test_other_objects
    [5, Object.new, {}, [], Redis, :redis, nil.to_a,
     Struct.new(:host).new("localhost")].each do |wrong|
      assert_match(/URL of a Redis or Valkey/, refused(wrong))
    end
  end

  def test_text_that_is_none
    message = refused("redis://:secret\xFF@localhost")

    assert_match(/no text in UTF-8/, message)
  end

  SSL_PARAMS = {
    ciphers: "DEFAULT", cert_store: OpenSSL::X509::Store.new, verify_hostname: false,
    min_version: OpenSSL::SSL::TLS1_3_VERSION, ca_file: "/nowhere/ca.pem", ca_path: __dir__,
    cert: "/nowhere/client.pem"
  }.freeze

  SSL_PARAMS.each do |name, value|
    define_method("test_ssl_params with #{name}") do
      client = Redis.new(ssl: true, password: "secret", ssl_params: { name => value })

      assert_match(/ssl_params: .*#{name}/, refused(client))
    end
  end

  def test_an_authority_that_is_none
    assert_match(/no certificate in PEM/,
                 refused(Redis.new(ssl: true, ssl_params: { ca_file: __FILE__ })))
  end

  def test_a_key_that_is_none
    params = { cert: File.read(@server.file("client.pem")), key: "-----BEGIN NOTHING-----" }

    assert_match(/settings that cannot be used/, refused(Redis.new(ssl: true, ssl_params: params)))
  end

  def test_replicas_of_a_sentinel
    sentinels = [{ host: "127.0.0.1", port: 1 }]
    name = Clients::OWN ? { host: "main", role: :slave } : { name: "main", role: :replica }

    assert_match(/needs the primary/, refused(Redis.new(**name, sentinels: sentinels)))
  end

  def test_sentinels_that_differ
    sentinels = %w[secret other].map do |password|
      { host: "127.0.0.1", port: 1, password: password }
    end
    name = Clients::OWN ? { host: "main" } : { name: "main" }

    assert_match(/Sentinels with several passwords/,
                 refused(Redis.new(**name, sentinels: sentinels)))
  end

  redis_client "a driver of its own" do
    driver = Class.new(RedisClient::RubyConnection)

    assert_match(/driver of its own/, refused(RedisClient.config(driver: driver)))
  end

  redis_client "a password that is asked for" do
    config = RedisClient.config(password: "secret")
    # As releases have it that take one.
    config.instance_variable_set(:@password, ->(_) { flunk "it is not asked" })

    assert_match(/asks a Proc for its password/, refused(config))
  end

  redis_client "a namespace" do
    require "polycache/redis_namespace"
    options = { middlewares: [Polycache::RedisNamespace], custom: { namespace: "shop" } }

    assert_match(/option prefix/, refused(RedisClient.config(**options)))
    assert_match(/option prefix/, refused(Redis.new(**options)))
  end

  redis_client "what a cluster cannot have" do
    require "redis_cluster_client"
    require "polycache/redis_namespace/cluster"
    passwords = ["redis://:secret@a.invalid:1", "redis://:other@b.invalid:1"]
    namespaced = Polycache::RedisNamespace.cluster(namespace: "shop")
    { { fixed_hostname: "b.invalid" } => /fixed_hostname/,
      { nodes: ["redis://a.invalid:1/2"] } => /database 0 only/,
      { nodes: passwords } => /several passwords/,
      namespaced => /option prefix/ }.each do |options, why|
      config = RedisClient.cluster(nodes: ["redis://a.invalid:1"], **options)

      assert_match(why, refused(config))
    end
  end

  if Clients::OWN
    def test_a_connector_of_its_own
      connector = Class.new(Redis::Client::Connector)

      assert_match(/connector of its own/, refused(Redis.new(connector: connector)))
    end
  end
end
