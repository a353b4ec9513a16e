# frozen_string_literal: true

require "test_helper"

# What all processes of the machine did with a directory, and the space of namespaces.
class MachineStatsTest < Minitest::Test
  include Caches
  include Children

  def test_a_killed_process_is_counted
    cache = open_cache
    cache.set("k", "v")
    500.times { cache.get("k") }
    reader, writer = IO.pipe
    pid = fork do
      other = open_cache
      10.times { other.get("k") }
      other.get("absent")
      writer.write("ready")
      writer.close
      sleep
    end
    writer.close
    assert_equal "ready", reader.read
    mine, others = cache.machine_stats.fetch(:processes)
    Process.kill(:KILL, pid)
    Process.wait(pid)
    assert_equal [Process.pid, 500, 1], mine.values_at(:pid, :hits, :handles)
    assert_equal [pid, 10, 1], others.values_at(:pid, :hits, :misses)
    stats = cache.machine_stats
    assert_equal [510, 1, 1], stats.values_at(:hits, :misses, :writes)
    assert_equal 1, stats.fetch(:processes).size
  end

  def test_hits_of_the_memory_tier_count
    cache = open_cache(memory: true)
    cache.set("k", "v")
    100.times { cache.get("k") }
    stats = cache.machine_stats
    assert_equal 100, stats.fetch(:hits)
    assert_operator stats.fetch(:memory_hits), :>, 90
    cache.close
    again = open_cache
    assert_equal 100, again.machine_stats.fetch(:hits)
  end

  def test_loads_count_their_miss_once
    cache = open_cache
    cache.get_or_set("k") { 1 }
    cache.get_or_set("k") { 2 }
    assert_raises(ZeroDivisionError) { cache.get_or_set("fails") { 1 / 0 } }
    stats = cache.machine_stats
    assert_equal [1, 2, 2, 1], stats.values_at(:hits, :misses, :loads, :failed_loads)
  end

  def test_a_lock_is_no_read
    cache = open_cache
    cache.lease("k").synchronize { nil }
    assert_equal [0, 0, 0], cache.machine_stats.values_at(:misses, :loads, :failed_loads)
  end

  def test_usage_is_told_by_namespace
    cache = open_cache
    cache.set("k", "x")
    nested = cache.namespace("shop").namespace("eu")
    nested.set_many({ "a" => "x" * 1000, "b" => "x" * 1000 })
    usage = cache.usage
    shown = usage.map { |one| one.values_at(:namespace, :entries) }

    assert_equal [[%w[shop eu], 2], [[], 1]], shown
    assert_operator usage.first.fetch(:bytes), :>, 2000
    assert_equal usage.first(1), nested.usage(1)
    assert_empty cache.usage(0)
    [-1, 1.5, true, nil, "10", 2**32].product([cache, Polycache::Cache.new]) do |wrong, asked|
      assert_raises(Polycache::InvalidArgument) { asked.usage(wrong) }
    end
  end

  def test_without_a_directory_there_is_nothing_to_tell
    cache = Polycache::Cache.new
    assert_nil cache.machine_stats
    assert_nil cache.usage
    cache.close
    assert_raises(Polycache::Closed) { cache.machine_stats }
  end
end
