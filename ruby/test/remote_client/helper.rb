# frozen_string_literal: true

# The gems that tools/setup.sh clients unpacked; with POLYCACHE_REDIS_RB=4 redis-rb 4, which does
# without redis-client.
if ENV["POLYCACHE_REDIS_RB"] == "4"
  gem "redis", "~> 4.8"
else
  require_relative "../redis_namespace/support/clients"
end
require "test_helper"
require "redis"
require_relative "../support/certificates"
require_relative "../support/remote_caches"

# A server that is reached in every way, and caches over clients of it.
module Clients
  include RemoteCaches
  include Children

  OWN = Redis::VERSION.start_with?("4.")
  # A user that may do what the tier needs, on its own keys.
  USER = { username: "limited", password: "a-secret" }.freeze

  def self.included(tests) = tests.extend(RemoteCaches::Everywhere)

  # Where it listens, and the folder of its certificates.
  Server = Struct.new(:port, :tls_port, :folder) do
    def path = File.join(folder, "socket")
    def file(name) = File.join(folder, name)

    def certificates(**others)
      certificate = OpenSSL::X509::Certificate.new(File.read(file("client.pem")))
      key = OpenSSL::PKey.read(File.read(file("client.key")))
      { ca_file: file("ca.pem"), cert: certificate, key: key, **others }
    end
  end

  def self.server = @server ||= start

  def self.start
    tls_port = Servers.free_port
    within = nil
    number = Servers.in_folder do |folder, port|
      within = folder
      Certificates.write(folder)
      [Servers::PROGRAMS.first, "--bind", "127.0.0.1", "--port", port.to_s, "--dir", folder,
       "--save", "", "--unixsocket", File.join(folder, "socket"), "--tls-port", tls_port.to_s,
       "--tls-ca-cert-file", File.join(folder, "ca.pem"),
       "--tls-cert-file", File.join(folder, "server.pem"),
       "--tls-key-file", File.join(folder, "server.key"),
       "--user", "limited", "on", ">a-secret", "~*", "&*", "+@all"]
    end
    Server.new(number, tls_port, within)
  end
  private_class_method :start

  def setup
    super
    skip "no redis-server here" if Servers::PROGRAMS.empty?
    @server = Clients.server
    @port = @server.port
    @clients = []
  end

  def teardown
    super
    @clients&.each { |client| client.close if client.respond_to?(:close) }
  end

  def kept(client)
    @clients << client
    client
  end

  # Two hosts, and a child that is forked from one of them.
  def assert_shared(client)
    one = open_host(remote: client)
    other = open_host(remote: client)
    one.set("k", "first")

    assert_equal "first", other.get("k"), other.remote_stats
    listens(other)
    one.set("k", "second")
    until_true("the write is heard of") { other.get("k") == "second" }
    said = said_by(*child do |say|
      listens(other).set("k", "third")
      say.call(other.get("k"))
    end)

    assert_equal "third\n", said
    until_true("the child's write is heard of") { one.get("k") == "third" }
  end

  # Lines of CLIENT LIST, as Hashes.
  def connections
    lines = answer(@port, "CLIENT LIST").lines
    lines.map { |line| line.split.to_h { |word| word.split("=", 2) } }
  end

  # The text that a server answers to a command.
  def answer(port, command)
    TCPSocket.open("127.0.0.1", port) do |socket|
      socket.write("#{command}\r\n")
      socket.read(Integer(socket.gets.delete_prefix("$"), 10))
    end
  end

  def refused(client)
    error = assert_raises(Polycache::InvalidArgument) { open_remote(remote: client) }
    refute_includes error.message, "secret"
    error.message
  end
end
