# frozen_string_literal: true

require "test_helper"

# The memory tier over the host tier (spec/memory.md): what was read is handed out again while it is
# what a read of the host tier would give, in any process.
class MemoryOverHostTest < Minitest::Test
  include Caches
  include Children

  VALUE = { "name" => "Ada", "tags" => ["x"] }.freeze

  def tiered(**options) = open_cache(memory: { isolation: "freeze" }, **options)

  def memory_hits(cache) = cache.stats[:memory_hits]

  def test_what_was_read_is_handed_out_again
    cache = tiered
    cache.set("k", VALUE)

    refute_same VALUE, first = cache.get("k")
    assert_same first, cache.get("k")
    assert_same first, cache.get(:k)
    assert_same first, cache.get("k".b)
    assert_same first, cache.fetch("k") { flunk }
    assert cache.has?("k")
    assert_equal 5, memory_hits(cache)
    assert_equal 6, cache.stats[:hits]
    assert_predicate first["tags"][0], :frozen?
  end

  # The first call gives what later ones give, to callers that load and that join.
  def test_under_freeze_what_was_loaded_is_frozen_for_all
    cache = tiered
    begun = Queue.new
    go = Queue.new
    load = lambda do
      begun << true
      go.pop
      { "tags" => [+"x"] }
    end
    leader = Thread.new { cache.fetch("k", &load) }
    begun.pop
    joined = Thread.new { cache.fetch("k") { flunk } }
    Thread.pass until joined.stop?
    go << true
    given = [leader, joined].map(&:value) << cache.get("k")

    assert_equal [{ "tags" => ["x"] }], given.uniq
    assert(given.all? { |value| Ractor.shareable?(value) })
    assert_equal [:x], cache.fetch("symbols") { [:x] }, "it cannot be stored, and is handed over"
  end

  def test_what_is_written_is_not_kept_but_what_is_read_by_fetch_is
    cache = tiered
    loaded = cache.fetch("k") { { "a" => 1 } }

    refute_same loaded, read = cache.fetch("k") { flunk }
    assert_same read, cache.fetch("k") { flunk }
    assert_equal 1, memory_hits(cache)
  end

  def test_every_change_by_another_handle_is_seen
    cache = tiered(namespace: "n")
    other = open_cache(namespace: "n")
    {
      "set" => [-> { other.set("k", "new") }, "new"],
      "delete" => [-> { other.delete("k") }, nil],
      "clear" => [-> { other.clear }, nil],
      "a load" => [-> { other.delete("k") && other.fetch("k") { "loaded" } }, "loaded"]
    }.each do |name, (change, then_there)|
      cache.set("k", VALUE)
      cache.get("k")

      assert_equal VALUE, cache.get("k"), name
      change.call

      then_there ? assert_equal(then_there, cache.get("k"), name) : assert_nil(cache.get("k"), name)
      assert_equal !then_there.nil?, cache.has?("k"), name
    end
  end

  def test_every_change_by_another_process_is_seen
    cache = tiered
    cache.set("k", VALUE)
    cache.get("k")
    id, pipe = child do |say|
      say.call(cache.get("k") == VALUE)
      cache.set("k", "the child's")
      say.call(cache.get("k"))
    end

    assert_equal "true\nthe child's\n", said_by(id, pipe)
    assert_equal "the child's", cache.get("k")
  end

  def test_own_changes
    cache = tiered
    nested = cache.namespace("nested")
    [cache, nested].each { |one| one.set("k", VALUE) && nil }
    2.times { [cache, nested].each { |one| one.get("k") } }

    assert_equal 2, memory_hits(cache)
    nested.set("k", 5)

    assert_equal [VALUE, 5], [cache.get("k"), nested.get("k")]
    cache.clear

    assert_equal [nil, nil], [cache.get("k"), nested.get("k")]
    cache.set("k", 1)
    cache.get("k")
    cache.close
    assert_raises(Polycache::Closed) { cache.get("k") }
    assert_raises(Polycache::Closed) { nested.get("k") }
  end

  def test_take_touch_and_delete_prefix
    cache = tiered(clock: clock = ManualClock.new)
    { "take" => -> { cache.take("k") }, "delete_prefix" => -> { cache.delete_prefix("k") } }
      .each do |name, change|
        cache.set("k", VALUE)
        2.times { cache.get("k") }
        change.call

        assert_nil cache.get("k"), name
      end
    cache.set("k", VALUE, ttl: 5)
    2.times { cache.get("k") }

    assert cache.touch("k", ttl: 10)
    clock.advance(9999)

    assert_equal VALUE, cache.get("k")
    clock.advance(1)

    assert_nil cache.get("k")
  end

  # As what get gives, it cannot be changed.
  def test_what_is_peeked_at_and_taken_is_frozen_and_not_kept
    cache = tiered
    cache.set("k", VALUE)
    given = [cache.peek("k"), cache.entry("k").value, cache.peek("k"), cache.take("k")]

    assert_equal [VALUE], given.uniq
    assert(given.all? { |value| Ractor.shareable?(value) })
    assert_equal 0, memory_hits(cache)
    loaded = cache.get_or_set_many(%w[k]) { { "k" => { "tags" => [+"x"] } } }

    assert Ractor.shareable?(loaded["k"])
    2.times { cache.get("k") }

    assert_same cache.get("k"), cache.get_or_set_many(%w[k]) { flunk }["k"]
  end

  def test_expiry
    clock = ManualClock.new
    cache = tiered(clock: clock)
    cache.set("k", VALUE, ttl: 5)
    2.times { assert_equal VALUE, cache.get("k") }
    clock.advance(4999)

    assert_equal VALUE, cache.get("k")
    clock.advance(1)

    assert_nil cache.get("k")
    clock.advance(-6001)

    assert_nil cache.get("k"), "a clock that was set back"
  end

  def test_clones
    cache = open_cache(memory: true)
    cache.set("k", VALUE)
    3.times do
      value = cache.get("k")

      assert_equal VALUE, value
      value["tags"] << "changed"
      value["name"] << "!"
    end
    assert_equal 2, memory_hits(cache)
  end

  def test_none
    cache = open_cache(memory: { isolation: "none" })
    cache.set("k", VALUE)
    cache.get("k")["tags"] << "seen by all"

    assert_equal ["x", "seen by all"], cache.get("k")["tags"]
  end

  def test_every_type_is_frozen_to_its_depth_and_weighed
    cache = tiered
    [nil, 1, 2**80, 1.5, "x" * 100, "b\xff".b, [[+"x"]], { "a" => [+"y"] }, Set[+"z"], Time.now.utc,
     BigDecimal("1.5"), Polycache::UUID.random].each do |value|
      cache.set("k", value)
      2.times { assert_equal [value], [cache.get("k")] }

      assert Ractor.shareable?(cache.get("k")), value.inspect unless value.is_a?(Time)
      assert_predicate cache.get("k"), :frozen?
    end
  end

  def test_bounds
    cache = open_cache(memory: { isolation: "freeze", max_entries: 10, max_bytes: 100_000 })
    50.times { |number| cache.set("k#{number}", "x" * 10_000) }
    2.times { 50.times { |number| assert_equal 10_000, cache.get("k#{number}").size } }
    cache.set("large", "x" * 60_000)
    2.times { assert_equal 60_000, cache.get("large").size }
    store = cache.instance_variable_get(:@tiers).instance_variable_get(:@core).store

    assert_operator store.size, :<=, 10
    assert_operator store.bytes, :<=, 100_000
  end

  # The host tier recycles what looks unused: hits in memory have to keep its entry there.
  def test_what_is_read_from_memory_stays_in_the_host_tier
    cache = tiered
    cache.set("hot", "x" * 1000)
    400.times do |number|
      40.times { cache.get("hot") }
      cache.set("cold #{number}", "y" * 30_000)
    end

    assert_equal "x" * 1000, cache.get("hot")
  end

  def test_threads
    cache = tiered
    cache.set("k", [0])
    threads = Array.new(4) do
      Thread.new do
        last = 0
        500.times do
          now = cache.get("k")[0]
          raise "older than what was read before" if now < last

          last = now
        end
      end
    end
    500.times { |number| cache.set("k", [number]) }
    threads.each(&:join)

    assert_equal [499], cache.get("k")
  end
end
