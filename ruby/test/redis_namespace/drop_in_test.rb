# frozen_string_literal: true

require "delegate"

require_relative "helper"
require "polycache/redis_namespace/redis_rb"

# What users of redis-namespace do with it beside commands.
class DropInTest < Minitest::Test
  include Namespaced

  def setup
    super
    @redis = Redis.new(port: port)
    @ns = Polycache::Redis::Namespace.new(:ns, redis: @redis)
  end

  def teardown
    @redis&.close
    super
  end

  def test_options_may_be_a_hash
    ns = Polycache::Redis::Namespace.new(:ns, { redis: @redis, warning: false })
    ns.set("k", 1)

    assert_equal ["ns:k"], everything
    refute_predicate ns, :warning?
  end

  def test_an_option_that_is_not_known_is_refused
    error = assert_raises(Polycache::InvalidArgument) do
      Polycache::Redis::Namespace.new(:ns, redis: @redis, warnings: true)
    end

    assert_includes error.message, "warnings"
  end

  def test_the_environment_says_whether_to_warn
    assert_predicate @ns, :warning?
    refute_predicate @ns, :deprecations?
    with_environment("REDIS_NAMESPACE_QUIET" => "1", "REDIS_NAMESPACE_DEPRECATIONS" => "1") do
      ns = Polycache::Redis::Namespace.new(:ns, redis: @redis)

      refute_predicate ns, :warning?
      assert_predicate ns, :deprecations?
      assert_predicate Polycache::Redis::Namespace.new(:ns, redis: @redis, warning: true), :warning?
    end
  end

  def test_inspect
    inner = Polycache::Redis::Namespace.new("in", redis: @ns)

    assert_match %r{\A<Polycache::Redis::Namespace v\S+ with client v5\S* for redis://.*/ns:in>\z},
                 inner.inspect
  end

  # What Ruby asks for itself must not reach the server.
  def test_implicit_conversions
    a, b = @ns
    pairs = [[@ns, 1]].each_with_object([]) { |(ns, number), found| found << ns << number }

    assert_equal [@ns, nil], [a, b]
    assert_equal [@ns, 1], pairs
    assert_equal [@ns], Array(@ns)
    assert_equal [@ns], [@ns].flatten
    assert_equal [@ns], [*@ns]
    assert_output("#{@ns.inspect}\n") { puts @ns }
    assert_equal [[@ns, nil]], (yielding { |one, two| [one, two] })
    assert_raises(NoMethodError) { @ns.to_str }
  end

  def test_it_responds_to_commands
    assert_respond_to @ns, :get
    assert_respond_to @ns, :lpos
    refute_respond_to @ns, :to_ary
    refute_respond_to @ns, :nosuch
    assert_equal "OK", @ns.public_send("SET", "k", 1)
  end

  def test_a_delegator
    ns = Polycache::Redis::Namespace.new(:ns, redis: SimpleDelegator.new(@redis))
    ns.hset("h", "f", 1)
    ns.rpush("l", %w[x y])

    assert_equal({ "f" => "1" }, ns.hgetall("h"))
    assert_equal %w[l x], ns.blpop("l", timeout: 1)
    assert_equal %w[h l], ns.keys.sort
    assert_equal [%w[h l]], ns.multi(&:keys).map(&:sort)
    assert_equal %w[ns:h ns:l], everything
  end

  # A double in somebody's tests.
  class Double
    attr_reader :got

    def get(key) = (@got = key) && "v"
  end

  def test_a_double
    double = Double.new

    assert_equal "v", Polycache::Redis::Namespace.new(:ns, redis: double).get("k")
    assert_equal "ns:k", double.got
  end

  def test_distributed_is_refused
    require "redis/distributed"
    distributed = Redis::Distributed.new(["redis://127.0.0.1:#{port}"])
    error = assert_raises(Polycache::InvalidArgument) do
      Polycache::Redis::Namespace.new(:ns, redis: distributed)
    end

    assert_includes error.message, "middlewares"
  end

  def test_distributed_with_the_middleware
    require "redis/distributed"
    options = { middlewares: [Polycache::RedisNamespace], custom: { namespace: "ns" } }
    distributed = Redis::Distributed.new(["redis://127.0.0.1:#{port}"], options)
    distributed.set("k", 1)

    assert_equal ["ns:k"], everything
    assert_equal ["k"], distributed.keys
  end

  def test_the_namespace_of_a_pipeline
    @ns.pipelined do |pipeline|
      assert_equal [:ns, "ns"], [pipeline.namespace, pipeline.full_namespace]
      pipeline.namespace("other") { |other| other.set("k", 1) }
    end
    replies = @ns.multi do |transaction|
      assert_equal :ns, transaction.namespace
      transaction.namespace("other", &:keys)
    end

    assert_equal ["other:k"], everything
    assert_equal [["k"]], replies
  end

  def test_a_separator
    ns = Polycache::Redis::Namespace.new("app", redis: @redis, separator: "-")
    inner = Polycache::Redis::Namespace.new("in", redis: ns)
    ns.set("k", 1)
    inner.set("k", 1)

    assert_equal %w[app-in:k app-k], everything
    assert_equal %w[app app-in], [ns.full_namespace, inner.full_namespace]
    assert_equal [%w[in:k k], %w[k]], [ns.keys.sort, inner.keys]
    ns.namespace("b") { |beside| beside.set("k", 1) }

    assert_includes everything, "b-k"
  end

  # Also beside the cache, which loads the namespaces when they are named.
  def test_every_file_can_be_required_by_itself
    clients = File.expand_path("support/clients", __dir__)
    lib = File.expand_path("../../lib", __dir__)
    %w[
      redis_namespace redis_namespace/cluster redis_namespace/command_builder
      redis_namespace/redis_rb redis_namespace/redis_rb/alias
    ].each do |file|
      script = "require #{clients.dump}; module Polycache; " \
               "autoload :RedisNamespace, 'polycache/redis_namespace'; end; " \
               "require 'polycache/#{file}'; puts Polycache::RedisNamespace"
      said = IO.popen([RbConfig.ruby, "-w", "-I#{lib}", "-e", script], err: %i[child out], &:read)

      assert_empty said.lines.grep(%r{lib/polycache.*warning|Error}), file
      assert_equal "Polycache::RedisNamespace\n", said.lines.last
    end
  end

  def test_the_alias_takes_the_place_of_redis_namespace
    script = <<~RUBY
      require #{File.expand_path("support/clients", __dir__).inspect}
      require "polycache/redis_namespace/redis_rb/alias"
      require "redis-namespace"
      ns = Redis::Namespace.new(:ns, redis: Redis.new(port: #{port}))
      ns.set("k", 1)
      puts ns.class, ns.keys("*"), Redis::Namespace.equal?(Polycache::Redis::Namespace)
    RUBY
    lib = File.expand_path("../../lib", __dir__)
    said = IO.popen([RbConfig.ruby, "-I#{lib}", "-e", script], &:read)

    assert_equal "Polycache::Redis::Namespace\nk\ntrue\n", said
  end

  private

  def yielding = [yield(@ns)]

  def with_environment(values)
    before = ENV.to_h
    ENV.update(values)
    yield
  ensure
    ENV.replace(before)
  end
end
