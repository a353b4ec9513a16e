# frozen_string_literal: true

require "memory/helper"

# Functions that are memoized, by a MemoryCache and by a Cache.
module MemoizeTests
  # A module with a function of its own.
  module Prices
    def self.of(fruit, unit: "kg") = "#{fruit} by #{unit}"
  end

  # A class, whose instances' methods have more than arguments.
  class Shop
    def price(fruit) = fruit.size
  end

  # Calls, with what they answered.
  def counted(calls) = ->(*args, **options) { (calls << [args, options]).size }

  def test_a_block
    calls = []
    price = tested.memoize(name: "price") { |fruit, unit: "kg"| calls << "#{fruit} #{unit}" }

    assert_predicate price, :lambda?
    assert_equal ["apple kg"], price.call("apple")
    assert_equal ["apple kg"], price.call("apple")
    price.call("apple", unit: "lb")

    assert_equal ["apple kg", "apple lb"], calls
    assert_equal ['price("apple")', 'price("apple", :"unit" => "lb")'], tested.keys.sort
  end

  def test_a_method
    price = tested.memoize(Prices.method(:of), ttl: 5)

    assert_equal "pear by lb", price.call("pear", unit: "lb")
    key = tested.keys.first

    assert_equal 'MemoizeTests::Prices.of("pear", :"unit" => "lb")', key
    assert_in_delta 5.0, tested.ttl(key)
    named = tested.memoize(Shop.new.method(:price), name: :shop)

    assert_equal 4, named.call("pear")
    assert tested.has?('shop("pear")')
  end

  def test_a_key
    user = tested.memoize(key: ->(id, **) { "user:#{id}" }) { |id, fresh: false| [id, fresh] }

    assert_equal [1, true], user.call(1, fresh: true)
    assert_equal [1, true], user.call(1)
    assert_equal ["user:1"], tested.keys.to_a
    wrong = tested.memoize(key: ->(id) { id }) { flunk }
    assert_raises(Polycache::InvalidKey) { wrong.call(1) }
  end

  def test_a_result_is_forgotten
    calls = []
    function = tested.memoize(name: "f") { |number, by: 1| calls << (number * by) }
    function.call(2, by: 3)
    function.call(2)

    assert function.forget(2, by: 3)
    refute function.forget(2, by: 3)
    function.call(2, by: 3)
    function.call(2)

    assert_equal [6, 2, 6], calls
    assert_raises(Polycache::InvalidArgument) { function.forget(Object.new) }
  end

  # No two calls that differ have one key.
  def test_arguments_that_differ
    function = tested.memoize(name: "f", &counted([]))
    calls = [
      [], [nil], [[]], [{}], [true], [false], [1], [1.0], [-0.0], [0.0], [2**80], ["1"], [:"1"],
      ["nil"], ["a, b"], %w[a b], ["a\", \"b"], [%w[a b]], [[["a"], "b"]], ["é"], ["é".b],
      ["\xFF".b], [{ "a" => 1 }], [{ a: 1 }], [{ "a" => { "b" => 2 } }], [[1, 2], 3],
      [1, [2, 3]], [Float::NAN], [Float::INFINITY], ["\n"], ["\\n"]
    ]
    answers = calls.map { |args| function.call(*args) }
    answers << function.call(a: 1) << function.call(a: 2)

    assert_equal (1..answers.size).to_a, answers
    assert_equal(answers.first(calls.size), calls.map { |args| function.call(*args) })
  end

  def test_arguments_that_are_no_text
    function = tested.memoize(name: "f") { flunk }
    cycle = []
    cycle << cycle
    [Object.new, Class.new(String).new("a"), Time.at(0), "\xFF", "a".encode("UTF-16LE"), [[1r]],
     { "a" => Object.new }, cycle, BasicObject.new].each do |argument|
      assert_raises(Polycache::InvalidArgument) { function.call(argument) }
    end
    assert_raises(Polycache::InvalidArgument) { function.call { nil } }
    assert_raises(Polycache::InvalidArgument) { function.call(a: Object.new) }
  end

  def test_functions_without_a_name
    nameless = Module.new { def self.f = 1 }
    [
      [[], {}, proc {}], [[nameless.method(:f)], {}, nil], [[Shop.new.method(:price)], {}, nil],
      [[], { name: "f" }, nil], [[Prices.method(:of)], {}, proc {}], [["f"], {}, nil],
      [[-> { 1 }], { name: "f" }, nil], [[], { name: "" }, proc {}], [[], { name: 5 }, proc {}],
      [[], { key: 5 }, proc {}], [[], { name: "f", key: proc {} }, proc {}],
      [[], { name: "f", ttl: 0 }, proc {}], [[], { name: "f", ttl: 1, expires_in: 1 }, proc {}]
    ].each do |arguments, options, block|
      assert_raises(Polycache::InvalidArgument, "#{arguments} #{options}") do
        tested.memoize(*arguments, **options, &block)
      end
    end
  end

  def test_its_results_are_loaded_as_by_get_or_set
    function = tested.memoize(name: "f") { |number| number.zero? ? raise(IOError) : [number] }
    assert_raises(IOError) { function.call(0) }
    first = function.call(1)

    assert_equal [1], first
    refute_same first, function.call(1)
    assert_raises(Polycache::InvalidArgument) do
      (again = tested.memoize(name: "again") { again.call }).call
    end
  end
end

class MemoizeInAMemoryCacheTest < Minitest::Test
  include MemoryCaches
  include MemoizeTests

  def tested = @tested ||= cache
end

class MemoizeInACacheTest < Minitest::Test
  include MemoizeTests

  def tested = @tested ||= Polycache::Cache.new(clock: ManualClock.new)

  def test_delete_prefix_forgets_a_function
    one = tested.memoize(name: "f") { |number| number }
    other = tested.memoize(name: "f2") { |number| number }
    [1, 2].each { |number| one.call(number) && other.call(number) }

    assert_equal 2, tested.delete_prefix("f(")
    assert_equal ["f2(1)", "f2(2)"], tested.keys.sort
  end
end
