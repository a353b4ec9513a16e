# frozen_string_literal: true

require "test_helper"
require_relative "support/remote_caches"

# The memory tier over copies of what a server holds.
class RemoteMemoryTest < Minitest::Test
  include RemoteCaches

  PLACES = { "a directory" => :open_host, "no directory" => :open_remote }.freeze

  # Reads a key until memory answers.
  def keeps(cache, key, value)
    until_true("memory has it") do
      before = cache.stats[:memory_hits]

      assert_equal value, cache.get(key)
      cache.stats[:memory_hits] > before
    end
  end

  PLACES.each do |place, opens|
    everywhere "with #{place} memory answers without a look at the copy" do
      cache = listens(send(opens, memory: true))
      cache.set("k", { "a" => [1] })
      keeps(cache, "k", { "a" => [1] })
      hits = cache.stats[:memory_hits]
      before = cache.remote_stats
      100.times { assert_equal({ "a" => [1] }, cache.get("k")) }

      assert_equal hits + 100, cache.stats[:memory_hits]
      assert_equal before.slice(:near_hits, :remote_hits),
                   cache.remote_stats.slice(:near_hits, :remote_hits)
      # Each reader has objects of its own.
      cache.get("k")["a"] << 2

      assert_equal({ "a" => [1] }, cache.get("k"))
    end

    everywhere "with #{place} every change ends what memory has" do
      cache = listens(send(opens, memory: true))
      far = open_remote
      10.times do |turn|
        far.set("k", turn)
        until_true("it is heard of") { cache.get("k") == turn }
        keeps(cache, "k", turn)
      end
      cache.set("k", "own")

      assert_equal "own", cache.get("k")
      keeps(cache, "k", "own")

      assert cache.delete("k")
      assert_nil cache.get("k")
      far.set("k", "cleared")
      until_true("it is there") { cache.get("k") == "cleared" }
      keeps(cache, "k", "cleared")
      far.clear
      until_true("it is gone") { cache.get("k").nil? }
    end

    everywhere "with #{place} a load is answered by memory" do
      cache = listens(send(opens, memory: { isolation: "freeze" }))

      assert_equal [1], cache.get_or_set("k") { [1] }
      keeps(cache, "k", [1])
      hits = cache.stats[:memory_hits]

      assert_equal [1], cache.get_or_set("k") { flunk }
      assert_equal hits + 1, cache.stats[:memory_hits]
      assert_predicate cache.get("k"), :frozen?
      assert_predicate cache.get(:k), :frozen?
    end
  end

  somewhere "a namespace has its own" do
    cache = listens(open_host(memory: true))
    one = cache.namespace("one")
    other = cache.namespace("other")
    one.set("k", "1")
    other.set("k", "2")
    keeps(one, "k", "1")
    keeps(other, "k", "2")
    one.clear

    assert_nil one.get("k")
    assert_equal "2", other.get("k")
  end
end
