# frozen_string_literal: true

require "memory/helper"
require "support/type_cases"

# Types that are registered, where there is no directory.
class MemoryTypesTest < Minitest::Test
  include TypeCases

  def types_cache(**options) = Polycache::MemoryCache.new(**options)
  def frozen? = false

  # What is frozen to its depth needs no copy: as ever, all share it.
  def test_what_is_frozen_to_its_depth_is_shared
    value = [User.new(1, "a").freeze].freeze
    cache = types_cache(types: TYPES)

    assert_same value, round_trip(value, cache)
    named = Polycache::Named.new("user", { "id" => 2, "name" => "b" }.freeze)

    assert_equal [User.new(2, "b")], round_trip([named].freeze, cache)
  end

  def test_an_object_that_is_reached_twice_is_one_again
    shared = ada
    list = [+"x"]
    found = round_trip([shared, { "again" => shared }, list, list])

    assert_equal [ada, { "again" => ada }, ["x"], ["x"]], found
    assert_same found[0], found[1]["again"]
    assert_same found[2], found[3]
    cycle = [ada]
    cycle << cycle
    found = round_trip(cycle)

    assert_same found, found[1]
    assert_equal ada, found[0]
  end

  def test_every_way_of_reading
    cache = types_cache(types: TYPES)
    cache.set("k", ada)
    read = [cache.peek("k"), cache.entry("k").value, cache.to_a[0][1], cache["k"], cache.take("k")]

    assert_equal [ada] * 5, read
    assert_equal 5, read.uniq(&:object_id).size
  end

  def test_a_listener_is_given_an_object
    left = []
    listener = ->(_, value, cause) { left << [value, cause] }
    cache = types_cache(types: TYPES, removal_listener: listener)
    cache.set("k", ada)
    cache.delete("k")

    assert_equal [[ada, :deleted]], left
  end

  def test_isolation_none_shares_the_object_itself
    cache = types_cache(types: TYPES, isolation: "none")
    value = Failing.new(IOError.new)

    assert_same value, round_trip(value, cache)
    assert_same value, cache.fetch("l") { value }
  end

  def test_weights_count_what_a_type_is_made_of
    weights = [+"a", "a" * 5000].map do |name|
      cache = types_cache(types: TYPES)
      cache.set("k", User.new(1, name))
      cache.stats[:bytes]
    end

    assert_operator weights[1] - weights[0], :>, 4900
  end
end

class MemoryFrozenTypesTest < Minitest::Test
  include TypeCases

  def types_cache(**options) = Polycache::MemoryCache.new(isolation: "freeze", **options)
  def frozen? = true

  def test_parts_without_types_are_shared
    cache = types_cache(types: TYPES)
    cache.set("k", [ada, ["shared"]])
    first, second = Array.new(2) { cache.get("k") }

    refute_same first[0], second[0]
    assert_same first[1], second[1]
    assert_predicate first, :frozen?
  end
end

class CacheWithoutADirectoryTypesTest < Minitest::Test
  include TypeCases

  def types_cache(**options) = Polycache::Cache.new(**options)
  def frozen? = false
end

class FrozenCacheWithoutADirectoryTypesTest < Minitest::Test
  include TypeCases

  def types_cache(**options) = Polycache::Cache.new(memory: { isolation: "freeze" }, **options)
  def frozen? = true
end

# The option itself, and the classes Type and Named.
class TypesOptionTest < Minitest::Test
  include TypeCases

  WRONG = [
    [], "user", 5, [User], { "" => User }, { "n" * 256 => User }, { 5 => User }, { nil => User },
    { "a".b => User }, { "\xFF" => User }, { "a" => User, "b" => User }, { "a" => User, a: Order },
    { "a" => Class.new }, { "a" => "User" }, { "a" => User.new }, { "a" => Comparable },
    { "a" => nil }, { "a" => Struct }, { "a" => Class.new(Struct) },
    *[NilClass, TrueClass, FalseClass, Integer, Float, String, Array, Hash, Set, Time, BigDecimal,
      Polycache::UUID, Polycache::Named].map do |klass|
      { "a" => Polycache::Type.new(klass, encode: proc {}, decode: proc {}) }
    end
  ].freeze

  undef_method(*TypeCases.instance_methods(false).grep(/\Atest_/))

  def test_what_is_refused
    WRONG.each do |types|
      [Polycache::Cache, Polycache::MemoryCache].each do |kind|
        assert_raises(Polycache::InvalidArgument, types.inspect) { kind.new(types: types) }
      end
    end
    wrong = [[User, { encode: proc {} }], [Point, { encode: 5, decode: proc {} }], ["User", {}]]
    wrong.each do |type, options|
      assert_raises(Polycache::InvalidArgument) { Polycache::Type.new(type, **options) }
    end
  end

  def test_what_is_taken
    [nil, {}, { "n" * 255 => User }, { "Größe::🗝" => User },
     { user: Polycache::Type.new(User) }].each do |types|
      Polycache::Cache.new(types: types)
      Polycache::MemoryCache.new(types: types)
    end
  end

  def test_later_changes_of_the_hash_are_not_seen
    types = { "user" => User }
    cache = Polycache::Cache.new(types: types)
    types.clear

    assert_equal ada, round_trip(ada, cache)
  end

  def test_a_symbol_may_be_registered
    symbol = Polycache::Type.new(Symbol, encode: :to_s.to_proc, decode: :to_sym.to_proc)
    cache = Polycache::Cache.new(types: { "symbol" => symbol })

    assert_equal [:a, { "b" => :c }], round_trip([:a, { b: :c }], cache)
  end

  def test_a_data_is_stored_as_its_members
    skip "this Ruby has no Data" unless defined?(Data.define)

    place = Data.define(:east, :north) do
      define_method(:initialize) { |east:, north: 7| super(east: east, north: north) }
    end
    cache = Polycache::Cache.new(types: { "place" => place })
    older = Polycache::Named.new("place", { "old" => 1 })

    assert_equal place.new(east: 1, north: [2]), round_trip(place.new(east: 1, north: [2]), cache)
    assert_equal place.new(east: nil, north: 7), round_trip(older, cache)
  end

  def test_what_a_struct_says_of_missing_members
    place = Struct.new(:east, :north, keyword_init: true) do
      define_method(:initialize) { |east: 5, **rest| super(east: east, **rest) }
    end
    cache = Polycache::Cache.new(types: { "place" => place })
    wrong = Polycache::Named.new("place", [1])

    assert_equal place.new(east: 5, north: nil),
                 round_trip(Polycache::Named.new("place", {}), cache)
    error = assert_raises(Polycache::WrongType) { round_trip(wrong, cache) }

    assert_equal ["$", TypeError], [error.path, error.cause.class]
  end

  def test_a_named_is_a_value
    named = Polycache::Named.new(:user, { "id" => 1 })
    equal = Polycache::Named.new(+"user", { "id" => 1 })

    assert_equal named, equal
    assert named.eql?(equal)
    assert_equal 1, [named, equal].uniq.size
    refute_equal named, Polycache::Named.new("user", { "id" => 2 })
    refute_equal named, Polycache::Named.new("users", { "id" => 1 })
    refute_equal named, ["user", { "id" => 1 }]
    refute Polycache::Named.new("n", 1).eql?(Polycache::Named.new("n", 1.0))
    assert_predicate named, :frozen?
    assert_predicate equal.name, :frozen?
    assert_equal "#<Polycache::Named \"user\" {\"id\"=>1}>", named.inspect
  end
end
