# frozen_string_literal: true

require "memory/helper"

# The option removal_listener: what leaves, why, and what becomes of the listener's errors.
class RemovalListenerTest < Minitest::Test
  include MemoryCaches

  def test_the_removal_listener_is_told_why
    told = []
    tested = cache(max_entries: 2, policy: "lru", removal_listener: ->(*event) { told << event })
    tested.set("a", 1)
    tested.set("a", 2)
    tested.set("b", 3, ttl: 1)
    tested.set("c", 4)
    tested.delete("c")
    @clock.advance(1000)
    tested.get("b")
    tested.set("d", 5)
    tested.clear

    assert_equal [["a", 1, :replaced], ["a", 2, :evicted], ["c", 4, :deleted], ["b", 3, :expired],
                  ["d", 5, :cleared]], told
  end

  def test_a_listener_may_use_the_cache_and_fail
    tested = nil
    told = []
    listener = lambda do |key, _, cause|
      next unless cause == :cleared

      told << key
      tested.set("from the listener", key)
      raise key == "a" ? "it failed at a" : NotImplementedError
    end
    tested = cache(removal_listener: listener)
    tested.set("a", 1)
    tested.set("b", 2)
    _, warned = capture_io { assert_nil tested.clear }

    assert_match(/polycache: the removal_listener raised .*it failed at a.*NotImpl/m, warned)
    assert_equal %w[a b], told
    assert_equal "b", tested.get("from the listener")
  end

  def test_the_error_of_a_listener_is_that_of_no_load
    tested = cache(max_entries: 1, removal_listener: ->(*) { raise "it failed" })
    tested.set("a", 1)
    loaded = nil
    _, warned = capture_io do
      loaded = [tested.get_or_set("b") { 2 },
                tested.get_or_set_many(%w[c d]) { { "c" => 3, "d" => 4 } }]
    end

    assert_equal [2, { "c" => 3, "d" => 4 }], loaded
    assert_equal 3, warned.scan("it failed").size
    assert_equal 4, tested.get("d")
  end
end
