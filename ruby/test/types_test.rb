# frozen_string_literal: true

require "test_helper"
require "support/fiber_scheduler"
require "support/type_cases"

# Types that are registered, over a directory.
class TypesTest < Minitest::Test
  include Caches
  include TypeCases

  def types_cache(**options) = open_cache(**options)
  def frozen? = false

  Roles = Struct.new(:name, :roles) do
    def initialize(name, roles = ["guest"]) = super
  end
  Needy = Struct.new(:name, :roles) do
    def initialize(name, roles) = super(name, roles || ["nobody"])
  end

  def test_last_members_that_were_gained_take_the_defaults_of_initialize
    cache = types_cache(types: { roles: Roles, needy: Needy })
    fields = { "name" => "Ada" }
    cache.set("k", [Polycache::Named.new("roles", fields), Polycache::Named.new("needy", fields)])

    assert_equal [Roles.new("Ada", ["guest"]), Needy.new("Ada", ["nobody"])], cache.get("k")
  end

  def test_another_handle_without_the_type_reads_a_named
    cache = types_cache(types: TYPES)
    other = types_cache
    cache.set("k", [ada])

    assert_equal [Polycache::Named.new("user", { "id" => 1, "name" => "Ada" })], other.get("k")
    other.set("back", other.get("k"))

    assert_equal [ada], cache.get("back")
  end

  def test_compressed_and_encrypted
    keys = [{ id: 1, key: "k" * 32 }].each { |one| one[:key] = one[:key].b }
    cache = types_cache(types: TYPES, compressor: "zstd", encryption: keys)
    value = Array.new(50) { order }

    assert_equal value, round_trip(value, cache)
  end

  def test_other_serializers_refuse_it
    cache = types_cache(types: TYPES, serializer: "json")
    error = assert_raises(Polycache::UnsupportedValue) { cache.set("k", { "a" => ada }) }

    assert_equal "$.a", error.path
    value = [ada]
    assert_output(nil, /unsupported_value/) { assert_same(value, cache.fetch("k") { value }) }
  end

  def test_a_loaded_value_that_is_too_large_is_as_it_would_be_read
    cache = types_cache(types: TYPES)
    value = User.new(1, "a" * 2_000_000)
    assert_output(nil, /entry_too_large/) do
      found = cache.fetch("k") { value }

      assert_equal value, found
      refute_same value, found
    end
  end

  # The object is made before the entry is deleted: one that cannot be made would be lost.
  def test_take_peek_and_entry_give_objects
    cache = types_cache(types: TYPES)
    cache.set("k", ada)

    assert_equal [ada, ada], [cache.peek("k"), cache.entry("k").value]
    assert_equal ada, cache.take("k")
    refute cache.has?("k")
    assert_equal({ "k" => ada }, cache.get_or_set_many(%w[k]) { { "k" => ada } })
  end

  def test_fibers_that_join_get_objects_of_their_own
    cache = types_cache(types: TYPES)
    events = []
    Thread.new do
      Fiber.set_scheduler(FiberScheduler.new)
      Fiber.schedule do
        events << cache.fetch("k") do
          sleep(0.001) until events.include?("others run")
          ada
        end
      end
      Fiber.schedule { events << cache.fetch("k") { flunk } }
      Fiber.schedule { events << "others run" }
    end.join

    assert_equal ["others run", ada, ada], events
    refute_same events[1], events[2]
  end
end

class TieredTypesTest < Minitest::Test
  include Caches
  include TypeCases

  def types_cache(**options) = open_cache(memory: true, **options)
  def frozen? = false

  def test_hits_come_out_of_memory
    cache = types_cache(types: TYPES)
    cache.set("k", [ada])
    found = Array.new(3) { cache.get("k") }

    assert_equal [[ada]] * 3, found
    assert_equal 3, found.uniq { |list| list[0].object_id }.size
    assert_equal 2, cache.stats[:memory_hits]
  end

  def test_what_has_no_room_in_memory
    [{ max_bytes: 400 }, { max_entries: 1 }].each do |bounds|
      %w[clone freeze none].each do |isolation|
        cache = types_cache(types: TYPES, memory: { isolation: isolation, **bounds })
        %w[a b c].each { |key| cache.set(key, [ada, ["text"]]) }
        2.times do
          %w[a b c].each do |key|
            read = [cache.get(key), cache.fetch(key) { flunk }]

            assert_equal [[ada, ["text"]]] * 2, read, isolation
          end
        end
        cache.clear
      end
    end
  end

  def test_isolation_none_shares_what_was_made_once
    cache = types_cache(types: TYPES, memory: { isolation: "none" })
    cache.set("k", [ada])
    first = cache.get("k")

    assert_equal [ada], first
    assert_same first, cache.get("k")
    assert_same first, cache.fetch("k") { flunk }
  end
end

class TieredLruTypesTest < Minitest::Test
  include Caches
  include TypeCases

  def types_cache(**options) = open_cache(memory: { policy: "lru" }, **options)
  def frozen? = false
end

class TieredFrozenTypesTest < Minitest::Test
  include Caches
  include TypeCases

  def types_cache(**options) = open_cache(memory: { isolation: "freeze" }, **options)
  def frozen? = true
end
