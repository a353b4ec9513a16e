# frozen_string_literal: true

require "test_helper"

# The option `expires_at`, as far as Ruby has something of its own there.
class ExpiresAtTest < Minitest::Test
  include Caches

  NOW = 1_700_000_000

  def setup
    super
    @clock = ManualClock.new
    @caches = [
      open_cache(clock: @clock), open_cache(clock: @clock, memory: true),
      Polycache::Cache.new(clock: @clock), Polycache::MemoryCache.new(clock: @clock)
    ]
  end

  # As ActiveSupport's times with a zone are.
  TimeWithZone = Class.new(Time)

  def test_times_of_every_kind
    times = [
      Time.at(NOW + 5), Time.at(NOW + 5, in: "+09:00"), TimeWithZone.at(NOW + 5),
      # Rounded up.
      Time.at(NOW + 4, 999_000_001, :nanosecond), Time.at((NOW + 5) - (1r / 3000))
    ]
    @caches.product(times) do |cache, time|
      cache.set("k", 1, expires_at: time)

      assert_in_delta 5.0, cache.ttl("k"), 1e-9
      cache.touch("k", expires_at: time + 1)

      assert_in_delta 6.0, cache.ttl("k"), 1e-9
    end
  end

  def test_times_beyond_what_an_entry_holds
    @caches.each do |cache|
      cache.set("k", 1, expires_at: Time.at(2**60))

      assert_in_delta (((2**48) - 1) / 1000.0) - NOW, cache.ttl("k"), 1e-3
      cache.set("k", 1, expires_at: Time.at(-(2**60)))

      refute cache.has?("k")
    end
  end

  def test_what_is_no_time
    [false, NOW, NOW.to_f, "5m", :default, Object.new].each do |wrong|
      @caches.each do |cache|
        error = assert_raises(Polycache::InvalidArgument) { cache.set("k", 1, expires_at: wrong) }
        assert_includes error.message, "expires_at is a Time"
        refute cache.has?("k")
      end
    end
  end

  # As for ActiveSupport's caches.
  def test_nil_is_no_time
    @caches.each do |cache|
      cache.set("k", 1, expires_at: nil, ttl: 5)

      assert_in_delta 5.0, cache.ttl("k"), 1e-9
      cache.set("k", 1, expires_at: nil)

      assert_predicate cache.ttl("k"), :infinite?
    end
  end

  def test_a_time_is_no_time_to_live
    @caches.each do |cache|
      assert_raises(Polycache::InvalidArgument) { cache.set("k", 1, ttl: Time.at(NOW + 5)) }
    end
  end

  # Each method that takes a time to live.
  CALLS = {
    set: ->(cache, options) { cache.set("k", 1, **options) },
    touch: ->(cache, options) { cache.set("k", 1) || cache.touch("k", **options) },
    set_many: ->(cache, options) { cache.set_many({ "k" => 1 }, **options) },
    get_or_set: ->(cache, options) { cache.get_or_set("k", **options) { 1 } },
    get_or_set_many: lambda do |cache, options|
      cache.get_or_set_many(["k"], **options) { { "k" => 1 } }
    end,
    memoize: lambda do |cache, options|
      cache.memoize(key: ->(key) { key }, **options) { 1 }.call("k")
    end,
    increment: ->(cache, options) { cache.increment("k", **options) },
    decrement: ->(cache, options) { cache.decrement("k", **options) },
    add: ->(cache, options) { cache.add("k", 1, **options) },
    update: ->(cache, options) { cache.update("k", **options) { 1 } },
    replace: ->(cache, options) { cache.set("k", 1) || cache.replace("k", 1, **options) },
    compare_and_set: lambda do |cache, options|
      cache.set("k", 1)
      cache.compare_and_set("k", cache.entry("k").version, 1, **options)
    end
  }.freeze

  def each_call
    CALLS.each do |method, call|
      @caches.each do |cache|
        next unless cache.respond_to?(method)

        cache.delete("k")
        yield cache, call
      end
    end
  end

  def test_of_every_method_that_takes_a_time_to_live
    each_call do |cache, call|
      call.call(cache, expires_at: Time.at(NOW + 5))

      assert_in_delta 5.0, cache.ttl("k"), 1e-9
    end
  end

  def test_one_of_the_three_is_given
    three = { ttl: "5m", expires_in: 5, expires_at: Time.at(NOW + 5) }
    each_call do |cache, call|
      [*three.to_a.combination(2), three.to_a].each do |given|
        assert_raises(Polycache::InvalidArgument) { call.call(cache, given.to_h) }
      end
    end
  end

  # It waited for the load of another caller, which is killed, before it loaded.
  def after_a_wait(cache, **options)
    started = Queue.new
    loader = Thread.new do
      cache.get_or_set("k") do
        started << true
        sleep
      end
    end
    started.pop
    waiter = Thread.new { cache.get_or_set("k", **options) { 1 } }
    Thread.pass until waiter.status == "sleep"
    loader.kill.join
    waiter.value
  end

  def test_a_load_after_a_wait
    { { expires_at: Time.at(NOW + 5) } => 5.0, { ttl: 7 } => 7.0,
      {} => Float::INFINITY }.each do |options, left|
      @caches.each do |cache|
        after_a_wait(cache, **options)

        assert_equal left, cache.ttl("k").round(6)
        cache.delete("k")
      end
    end
  end

  # The entry keeps the time at which it expires.
  def test_counting_keeps_the_time
    @caches.each do |cache|
      cache.increment("n", expires_at: Time.at(NOW + 5))
      @clock.advance(2000)
      cache.increment("n", expires_at: Time.at(NOW + 50))

      assert_in_delta 3.0, cache.ttl("n"), 1e-9
      @clock.advance(-2000)
    end
  end
end
