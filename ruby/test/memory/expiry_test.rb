# frozen_string_literal: true

require "memory/helper"

# When entries expire: time to live, time to idle, touch, and clocks that are set back.
class ExpiryTest < Minitest::Test
  include MemoryCaches

  def test_time_to_live
    tested = cache(ttl: "5m")
    tested.set("default", 1)
    tested.set("own", 1, ttl: 0.25)
    tested.set("ever", 1, expires_in: nil)
    keys = %w[default own ever]

    assert_equal([300.0, 0.25, Float::INFINITY], keys.map { |key| tested.ttl(key) })
    @clock.advance(249)

    assert tested.has?("own")
    @clock.advance(1)

    refute tested.has?("own")
    assert_nil tested.ttl("own")
    refute tested.delete("own")
    @clock.advance(300_000)

    assert_equal ["ever"], tested.keys
    assert_equal [["ever", 1]], tested.to_a
  end

  def test_a_clock_that_is_set_back
    tested = cache
    tested.set("k", 1, ttl: 60)
    @clock.advance(-1000)

    assert tested.has?("k")
    @clock.advance(-1)

    refute tested.has?("k")
    @clock.advance(1)

    assert_equal 1, tested.get("k")
  end

  def test_time_to_idle
    tested = cache(time_to_idle: 10)
    tested.set("k", 1)
    tested.set("kept", 1, time_to_idle: nil)
    tested.set("short", 1, time_to_idle: "1s")
    4.times do
      @clock.advance(9000)

      assert_equal 1, tested.get("k")
    end
    assert tested.has?("kept")
    refute tested.has?("short")
    @clock.advance(9000)
    # None of this is a use.
    tested.peek("k")
    tested.entry("k")
    tested.has?("k")
    tested.each.to_a

    assert_in_delta(1.0, tested.ttl("k"))
    @clock.advance(1000)

    refute tested.has?("k")
    assert_nil tested.get("k")
    assert_equal ["kept"], tested.keys
  end

  def test_time_to_idle_begins_anew_with_a_set_a_touch_and_a_load
    tested = cache(time_to_idle: 10)
    tested.get_or_set("loaded") { 1 }
    %w[set touched counted].each { |key| tested.set(key, 1) }
    2.times do
      @clock.advance(9000)
      tested.set("set", 1)

      assert tested.touch("touched")
      assert_operator tested.increment("counted"), :>, 1
      assert_equal(1, tested.get_or_set("loaded") { flunk })
    end

    assert_equal 4, tested.size
    @clock.advance(10_000)

    assert_equal 4, tested.purge_expired
  end

  def test_time_to_live_and_to_idle_whichever_comes_first
    tested = cache(ttl: 15, time_to_idle: 10)
    tested.set("k", 1)

    assert_in_delta(10.0, tested.ttl("k"))
    @clock.advance(9000)
    tested.get("k")

    assert_in_delta(6.0, tested.ttl("k"))
    assert_in_delta(6.0, tested.entry("k").ttl)
    @clock.advance(6000)

    assert_nil tested.get("k")
    tested.set("idle", 1)
    @clock.advance(10_000)

    assert_nil tested.get("idle")
    assert_equal 2, tested.stats[:expired]
  end

  def test_an_idle_entry_and_a_clock_that_is_set_back
    tested = cache(time_to_idle: 60)
    tested.set("k", 1)
    @clock.advance(-1001)

    refute tested.has?("k")
    assert_nil tested.get("k")
    @clock.advance(1)

    assert_equal 1, tested.get("k"), "a second is nothing, and it was not freed"
  end

  def test_touch
    tested = cache
    tested.set("k", [1])

    refute tested.touch("other", ttl: 5)
    assert tested.touch("k", ttl: 5)
    assert_in_delta(5.0, tested.ttl("k"))
    assert tested.touch("k", ttl: nil)
    assert_equal Float::INFINITY, tested.ttl("k")
    assert_equal [1], tested.get("k")
  end

  def test_a_touch_is_no_write
    told = []
    tested = cache(removal_listener: ->(*event) { told << event })
    tested.set("k", [1], ttl: 5)
    tested.touch("k", ttl: 10)
    tested.touch("k")

    assert_empty told
    assert_equal [1, 0, 0], tested.stats.values_at(:writes, :hits, :misses)
  end

  def test_what_has_expired_is_freed_without_being_read
    tested = cache
    100.times { |number| tested.set("old #{number}", 1, ttl: 1) }
    @clock.advance(1000)
    50.times { |number| tested.set("new #{number}", 1) }

    assert_equal 50, tested.size
    assert_equal 100, tested.stats[:expired]
    10.times { |number| tested.set("old #{number}", 1, ttl: 1) }
    @clock.advance(1000)

    assert_equal 10, tested.purge_expired
  end
end
