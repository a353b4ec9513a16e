# frozen_string_literal: true

require "test_helper"

# Atomic operations, as far as Ruby has something of its own there: spec/conformance has the rest.
class AtomicTest < Minitest::Test
  include Caches
  include Children

  Point = Struct.new(:x, :y)
  # Each set of tiers, and what it takes beside a path.
  TIERS = { "host" => {}, "memory and host" => { memory: true }, "memory" => { path: nil } }.freeze
  SHARED = TIERS.except("memory")
  # How a caller adds one to a number that others count, too. Where it reads and writes itself,
  # others run in between.
  WAYS = {
    "increment" => ->(cache, key) { cache.increment(key) },
    "decrement" => ->(cache, key) { cache.decrement(key, -1) },
    "update" => ->(cache, key) { cache.update(key, 0) { |count| Thread.pass || (count + 1) } },
    "compare_and_set" => lambda do |cache, key|
      loop do
        break if cache.add(key, 1)

        entry = cache.entry(key)
        Thread.pass
        break if cache.compare_and_set(key, entry.version, entry.value + 1)
      end
    end
  }.freeze

  def open_tiers(tiers, **options)
    given = { **TIERS.fetch(tiers), **options }
    return open_cache(**given) if given.fetch(:path, "")

    Polycache::Cache.new(**given.except(:path)).tap { |cache| @opened << cache }
  end

  def self.test_of_tiers(name, all = TIERS.keys, &block)
    all.each do |tiers|
      define_method("test_#{name}: #{tiers}") { instance_exec(open_tiers(tiers), &block) }
    end
  end

  # An update may conflict, if others are faster a hundred times.
  def count(way, cache, key)
    way.call(cache, key)
  rescue Polycache::Conflict => e
    assert_predicate e, :retryable?
    retry
  end

  WAYS.each do |name, way|
    test_of_tiers("#{name} in 8 threads loses nothing") do |cache|
      threads = Array.new(8) do
        Thread.new do
          250.times do
            count(way, cache, "n")
            Thread.pass
          end
        end
      end
      threads.each(&:join)

      assert_equal 2000, cache.get("n")
    end

    # What the parent has in memory changes under it: it never reads less than before.
    test_of_tiers("#{name} in 4 processes loses nothing", SHARED.keys) do |cache|
      hold, go = IO.pipe
      children = Array.new(4) do
        child do |_say|
          go.close
          hold.read # Until all are there.
          1000.times { count(way, cache, "n") }
        end
      end
      [hold, go].each(&:close)
      pipes = children.map(&:last)
      last = 0
      # At a pipe's end it can be read from.
      until IO.select(pipes, nil, nil, 0)&.first == pipes
        now = cache.get("n", 0)

        assert_operator now, :>=, last
        last = now
      end
      children.each { |id, from_child| assert_equal "", said_by(id, from_child) }

      assert_equal 4000, cache.get("n")
    end
  end

  test_of_tiers("one of all threads adds") do |cache|
    threads = Array.new(8) { |number| Thread.new { cache.add("k", number) ? number : nil } }
    winner = threads.filter_map(&:value)

    assert_equal [cache.get("k")], winner
  end

  def test_one_of_all_processes_adds
    cache = open_cache(memory: true)
    keys = Array.new(200, &:to_s)
    children = Array.new(4) do |number|
      child { |say| keys.each { |key| say.call("#{key} #{number}") if cache.add(key, number) } }
    end
    added = children.flat_map { |id, from_child| said_by(id, from_child).lines.map(&:split) }

    assert_equal keys.sort, added.map(&:first).sort
    assert_equal added.to_h.transform_values(&:to_i), cache.get_many(keys)
  end

  test_of_tiers("versions") do |cache|
    versions = Array.new(100) do |number|
      number.even? ? cache.set("k", 1) : cache.touch("k", ttl: "1h")
      cache.entry("k").version
    end

    assert_equal 100, versions.uniq.size
    assert_equal versions.last, cache.entry(:k).version
    cache.clear
    cache.set("k", 1)

    refute_includes versions, cache.entry("k").version
    assert(versions.all? { |version| version.is_a?(Integer) && version.between?(0, (2**64) - 1) })
  end

  test_of_tiers("what is no version") do |cache|
    cache.set("k", 1)
    [-1, 2**64, -(2**80), 1.0, "1", nil, :default, Object.new].each do |version|
      error = assert_raises(Polycache::InvalidArgument) { cache.compare_and_set("k", version, 2) }
      assert_includes error.message, "a version is an Integer from 0 to 2^64 - 1"
    end
    [0, 2**62, 2**63, (2**64) - 1].each { |one| refute cache.compare_and_set("k", one, 2) }

    assert_equal 1, cache.get("k")
  end

  test_of_tiers("what is no integer of 64 bits") do |cache|
    [nil, true, 1.0, 1r, "1", :one, 2**63, -(2**63) - 1].each do |wrong|
      assert_raises(Polycache::InvalidArgument) { cache.increment("n", wrong) }
      assert_raises(Polycache::InvalidArgument) { cache.decrement("n", wrong) }
      assert_raises(Polycache::InvalidArgument) { cache.increment("n", initial: wrong) }
    end
    refute cache.has?("n")
    assert_equal (2**63) - 1, cache.increment("n", (2**63) - 1)
    error = assert_raises(Polycache::IntegerOverflow) { cache.increment("n") }

    assert_includes error.message, "-2^63 to 2^63 - 1"
    cache.set("n", nil)

    assert_equal("$", assert_raises(Polycache::WrongType) { cache.increment("n") }.path)
  end

  test_of_tiers("an update's default") do |cache|
    assert_equal [1], cache.update("k", []) { |list| list + [1] }
    assert_equal [1, 2], cache.update(:k, []) { |list| list + [2] }
    assert_equal :none, cache.update("k", :none) { Polycache::Cache::DELETE }
    assert_equal :none, cache.update("k", :none) { Polycache::Cache::LEAVE }
    assert_nil(cache.update("k") { |value| value || Polycache::Cache::LEAVE })
    refute cache.has?("k")
    cache.set("k", nil)

    assert_equal [nil], cache.update("k", :none) { |value| [value] }
  end

  test_of_tiers("a block that is left in another way") do |cache|
    cache.set("k", 1)
    own = Class.new(StandardError)

    assert_raises(own) { cache.update("k") { raise own } }
    assert_equal(2, cache.update("k") { break 2 })
    assert_equal(3, catch(:out) { cache.update("k") { throw :out, 3 } })
    assert_equal 1, cache.get("k")
    error = assert_raises(Polycache::InvalidArgument) { cache.update("k") }
    assert_includes error.message, "a block"
    assert_raises(Polycache::UnsupportedValue) { cache.update("k") { Object.new } }
    assert_equal 1, cache.get("k")
  end

  # What was found stays that of the key as it was given.
  test_of_tiers("a block that changes the key's String") do |cache|
    key = +"k"
    cache.set("other", "other's")

    assert_equal("k's", cache.update(key) { key.replace("other") && "k's" })
    assert_equal({ "k" => "k's", "other" => "other's" }, cache.get_many(%w[k other]))
  end

  TIERS.each_key do |tiers|
    define_method("test_registered_types: #{tiers}") do
      cache = open_tiers(tiers, types: { "point" => Point })

      assert cache.add("k", Point.new(1, 2))
      assert_equal(Point.new(2, 2), cache.update("k") { |point| Point.new(point.x + 1, point.y) })
      assert cache.compare_and_set("k", cache.entry("k").version, [cache.get("k")])
      assert_equal [Point.new(2, 2)], cache.get("k")
      assert cache.replace("k", Point.new(3, 3))
      assert_equal({ "k" => Point.new(3, 3) }, cache.get_many(["k"]))
      assert_raises(Polycache::WrongType) { cache.increment("k") }
    end
  end

  # With the isolation "freeze" a block is given what readers are given.
  def test_an_update_of_frozen_values
    ["memory and host", "memory"].each do |tiers|
      cache = open_tiers(tiers, memory: { isolation: "freeze" })
      cache.set("k", ["a"])
      value = cache.update("k") do |list|
        assert_predicate list, :frozen?
        list + ["b"]
      end

      assert_equal value, cache.get("k")
    end
  end

  test_of_tiers("threads that are killed in the middle of anything") do |cache|
    20.times do |round|
      started = Queue.new
      thread = Thread.new do
        started << 1
        loop do
          WAYS.each_value { |way| count(way, cache, "n") }
          cache.update("k") { |list| list ? Polycache::Cache::DELETE : [round] }
          Thread.pass
        end
      end
      started.pop
      round.times { Thread.pass }
      thread.kill.join
    end
    before = cache.get("n", 0)

    assert_equal before + 1, cache.increment("n")
    assert_equal [1], cache.update("other") { [1] }
  end

  def test_constants_say_what_they_are
    assert_equal "Polycache::Cache::DELETE", Polycache::Cache::DELETE.inspect
    assert_equal "Polycache::Cache::LEAVE", Polycache::Cache::LEAVE.inspect
  end
end
