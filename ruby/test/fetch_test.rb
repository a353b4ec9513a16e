# frozen_string_literal: true

require "test_helper"

# One loader for all callers, however a load ends.
class FetchTest < Minitest::Test
  include Caches

  # The lease is free: the next caller loads at once.
  def assert_free(cache)
    assert_equal 0, cache.check[:leases]
    assert_equal "next", cache.fetch("k") { "next" }
  end

  def test_threads_share_one_load
    cache = open_cache
    loads = Queue.new
    go = Queue.new
    loader = Thread.new do
      cache.fetch("k") do
        loads << 1
        go.pop
        "value"
      end
    end
    loads.pop
    waiting = Array.new(5) { Thread.new { cache.fetch("k") { flunk } } }
    # They wait in sleep, and leave Ruby's lock to others.
    Thread.pass until waiting.all? { |thread| thread.status == "sleep" }
    go << 1

    assert_equal ["value"] * 6, [loader, *waiting].map(&:value)
  end

  def test_an_error_is_the_caller_s_own_and_frees_the_lease
    cache = open_cache
    error = assert_raises(KeyError) { cache.fetch("k") { raise KeyError, "mine" } }

    assert_equal "mine", error.message
    assert_includes error.backtrace.first, __FILE__
    refute cache.has?("k")
    assert_free(cache)
  end

  def test_every_way_out_of_a_block_frees_the_lease
    cache = open_cache

    assert_equal(:left, cache.fetch("k") { break :left })
    assert_free(cache)
    cache.clear

    assert_equal(:thrown, catch(:done) { cache.fetch("k") { throw :done, :thrown } })
    assert_free(cache)
    cache.clear

    assert_equal :returned, return_from_block(cache)
    assert_free(cache)
    cache.clear

    assert_equal(1, cache.fetch("k") { next 1 })
    assert_equal 1, cache.get("k")
  end

  def return_from_block(cache)
    cache.fetch("k") { return :returned }
    flunk
  end

  def test_a_killed_thread_frees_the_lease
    cache = open_cache
    loading = Queue.new
    thread = Thread.new do
      cache.fetch("k") do
        loading << 1
        Thread.stop
      end
    end
    loading.pop
    thread.kill.join

    assert_free(cache)
  end

  def test_a_timeout_frees_the_lease
    cache = open_cache
    assert_raises(Timeout::Error) do
      Timeout.timeout(0.01) { cache.fetch("k") { Thread.stop } }
    end

    assert_free(cache)
  end

  def test_a_waiter_can_be_stopped_and_the_holder_goes_on
    cache = open_cache
    value = cache.fetch("k") do
      waiter = Thread.new { cache.fetch("k") { flunk } }
      Thread.pass until waiter.status == "sleep"
      waiter.kill.join
      timed = Thread.new do
        assert_raises(Timeout::Error) { Timeout.timeout(0.01) { cache.fetch("k") { flunk } } }
      end
      timed.join
      "value"
    end

    assert_equal "value", value
    assert_equal "value", cache.get("k")
  end

  def test_an_error_that_is_being_handled_stays_so
    cache = open_cache
    begin
      raise KeyError, "outer"
    rescue KeyError => e
      begin
        cache.fetch("k") { raise IOError, "inner" }
      rescue IOError => inner
        assert_same e, inner.cause
      end
      assert_same e, $! # rubocop:disable Style/SpecialGlobalVars
    end
  end

  def test_a_value_that_cannot_be_stored_frees_the_lease
    cache = open_cache(store_errors: "raise")
    error = assert_raises(Polycache::UnsupportedValue) { cache.fetch("k") { { a: [:symbol] } } }

    assert_equal "$.a[0]", error.path
    assert_free(cache)
    cache.clear
    assert_raises(Polycache::EntryTooLarge) { cache.fetch("k") { "x" * 2_000_000 } }

    assert_free(cache)
  end

  def test_a_set_or_delete_during_the_load_wins
    cache = open_cache
    assert_equal("loaded", cache.fetch("k") { cache.set("k", "set") || "loaded" })
    assert_equal "set", cache.get("k")
    cache.delete("k")

    assert_equal("loaded", cache.fetch("k") { cache.delete("k") || "loaded" })
    refute cache.has?("k")
    assert_equal 2, cache.stats[:invalidated_loads]
  end

  # A caller that asks after a delete was acknowledged is never handed the load that it invalidated.
  def test_a_caller_after_a_delete_loads_anew
    cache = open_cache
    first = cache.fetch("k") do
      cache.delete("k")

      assert_equal("new", cache.fetch("k") { "new" })
      "old"
    end

    assert_equal "old", first
    assert_equal "new", cache.get("k")
  end

  def test_loads_nest
    cache = open_cache
    value = cache.fetch("outer") { cache.fetch("inner") { 1 } + cache.fetch("inner") { flunk } }

    assert_equal 2, value
  end

  def test_a_load_may_wait_in_a_fiber_while_others_go_on
    cache = open_cache
    fiber = Fiber.new { cache.fetch("k") { Fiber.yield(:loading) } }

    assert_equal :loading, fiber.resume
    assert_equal(1, cache.fetch("other") { 1 })
    assert_equal "value", fiber.resume("value")
    assert_equal "value", cache.get("k")
  end
end
