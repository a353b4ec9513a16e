# frozen_string_literal: true

require "delegate"
require "timeout"

# What registered types promise (spec/entry.md, "Registered types"), whatever the tiers are. A test
# that includes it has +types_cache(**options)+, and says whether its objects are +frozen?+.
module TypeCases
  User = Struct.new(:id, :name)
  Order = Struct.new(:customer, :items, keyword_init: true)
  Admin = Class.new(User)
  Failing = Struct.new(:error)
  Words = Class.new(Array)

  # A class that is neither Struct nor Data.
  class Point
    attr_reader :x, :y

    def initialize(*both)
      @x, @y = both
    end

    def ==(other) = other.instance_of?(Point) && [x, y] == [other.x, other.y]
  end

  FAILING = Polycache::Type.new(
    Failing, encode: ->(one) { raise one.error }, decode: ->(_) { flunk }
  )
  POINT = Polycache::Type.new(
    Point, encode: ->(point) { [point.x, point.y] }, decode: ->(value) { Point.new(*value) }
  )
  WORDS = Polycache::Type.new(Words, encode: :to_a.to_proc, decode: ->(value) { Words.new(value) })
  TYPES = {
    "user" => User, order: Order, "point" => POINT, "words" => WORDS, "failing" => FAILING
  }.freeze

  def ada = User.new(1, +"Ada")

  def order
    Order.new(customer: ada, items: [Point.new(1, 2), Words.new(["a", +"b"]), { "user" => ada }])
  end

  # Decodes with the block what was stored as "point".
  def decoding(&decode)
    encode = ->(point) { [point.x, [point.y]] }
    { "point" => Polycache::Type.new(Point, encode: encode, decode: decode) }
  end

  def round_trip(value, cache = types_cache(types: TYPES))
    cache.set("k", value)
    cache.get("k")
  end

  def test_the_class_that_was_stored_comes_back
    [ada, order, Point.new(1.5, nil), Words.new([ada]), [ada, { "a" => [ada] }]].each do |value|
      cache = types_cache(types: TYPES)
      found = round_trip(value, cache)

      assert_equal value, found
      assert_instance_of value.class, found
      assert_equal [value, value], [cache.fetch("k") { flunk }, cache.get_many(["k"])["k"]]
    end
  end

  def test_each_reader_has_an_object_of_its_own
    cache = types_cache(types: TYPES)
    stored = order
    cache.set("k", stored)
    first = cache.get("k")
    others = Array.new(3) { cache.get("k") } << cache.fetch("k") { flunk }

    [stored, *others].each do |other|
      assert_equal first, other
      refute_same first, other
      refute_same first.customer, other.customer
    end
    assert_equal frozen?, first.frozen?
    assert_equal frozen?, first.customer.name.frozen?
  end

  def test_a_change_of_what_was_stored_or_handed_out_is_nobody_else_s
    cache = types_cache(types: TYPES)
    stored = [ada, { "inner" => [+"text"] }]
    cache.set("k", stored)
    stored[0].name << "!"
    stored[1]["inner"] << 1
    unless frozen?
      found = cache.get("k")
      found[0].name << "?"
      found[1]["inner"][0] << "?"
    end

    assert_equal [User.new(1, "Ada"), { "inner" => ["text"] }], cache.get("k")
  end

  def test_the_first_call_of_a_load_is_like_later_ones
    cache = types_cache(types: TYPES)
    stored = order
    loaded = cache.fetch("k") { stored }

    refute_same stored, loaded
    refute_same stored.customer, loaded.customer
    assert_equal [stored, stored], [loaded, cache.fetch("k") { flunk }]
    assert_equal %w[a b], loaded.items[1]
    assert_equal 1, cache.fetch("n", &-> { Point.new(1, 2) }).x
  end

  def test_those_who_join_a_load_get_objects_of_their_own
    made = []
    types = decoding { |value| Point.new(value[0], value[1]).tap { |point| made << point } }
    cache = types_cache(types: types)
    begun = Thread::Queue.new
    go = Thread::Queue.new
    stored = Point.new(1, +"y")
    leader = Thread.new do
      cache.fetch("k") do
        begun << true
        go.pop
        stored
      end
    end
    begun.pop
    joined = Array.new(3) { Thread.new { cache.fetch("k") { flunk } } }
    Thread.pass until joined.all? { |thread| thread.status == "sleep" }
    go << true
    found = [leader, *joined].map(&:value)

    assert_equal 4, found.uniq(&:object_id).size
    found.each { |point| assert(made.any? { |one| one.equal?(point) }) }
    # Frozen parts may be shared.
    assert_equal 4, found.map(&:y).uniq(&:object_id).size unless frozen?
    assert_equal [[1, ["y"]]], found.map { |point| [point.x, point.y] }.uniq
  end

  def test_a_reader_without_the_type_loses_nothing
    cache = types_cache(types: { "point" => POINT })
    [Polycache::Named.new("user", { "id" => 1, "roles" => [+"a"] }),
     Polycache::Named.new("other", Point.new(1, 2)),
     [Polycache::Named.new("a", Polycache::Named.new("b", nil))]].each do |value|
      found = round_trip(value, cache)

      assert_equal value, found
      assert_equal [value, value], [cache.get("k"), cache.fetch("loaded") { value }]
      cache.delete("loaded")
      cache.set("again", found)

      assert_equal value, cache.get("again")
    end
  end

  def test_what_holds_a_named_is_each_reader_s_own
    cache = types_cache
    value = Polycache::Named.new("user", { "roles" => [+"a"] })
    cache.set("k", value)
    value.value["roles"] << "b"
    cache.get("k").value["roles"] << "c" unless frozen?

    assert_equal({ "roles" => ["a"] }, cache.get("k").value)
    assert_equal frozen?, cache.get("k").value["roles"][0].frozen?
  end

  def test_a_named_is_read_as_the_type_that_is_registered
    value = [Polycache::Named.new("user", { "id" => 2 }),
             [Polycache::Named.new("point", [1, 2])].freeze]

    assert_equal [User.new(2, nil), [Point.new(1, 2)]], round_trip(value.freeze)
    assert_equal User.new(2, nil), round_trip(Polycache::Named.new("user", { "id" => 2 }.freeze))
  end

  def test_members_that_are_gone_are_passed_over_and_new_ones_are_nil
    value = [Polycache::Named.new("user", { "name" => "Ada", "age" => 5 }),
             Polycache::Named.new("order", { "items" => [], "old" => 1 })]

    assert_equal [User.new(nil, "Ada"), Order.new(items: [])], round_trip(value)
  end

  def test_only_the_very_class
    cache = types_cache(types: TYPES)
    error = assert_raises(Polycache::UnsupportedValue) { cache.set("k", [Admin.new(1, +"a")]) }

    assert_equal "$[0]", error.path
    refute cache.has?("k")
    with_method = ada
    def with_method.shout = name.upcase

    assert_equal ada, round_trip(with_method, cache)
  end

  # A SimpleDelegator is a BasicObject: Object === it is false.
  class Decorated < SimpleDelegator
    def shout = "#{upcase}!"
  end

  class Bare < BasicObject
    def initialize(text) = @text = text
    def shout = "#{@text.upcase}!"
    def to_s = @text.to_s
  end

  def test_classes_that_extend_basic_object
    decorated = Polycache::Type.new(Decorated, encode: :__getobj__.to_proc,
                                               decode: ->(text) { Decorated.new(text) })
    bare = Polycache::Type.new(Bare, encode: :to_s.to_proc, decode: ->(text) { Bare.new(text) })
    cache = types_cache(types: { decorated: decorated, bare: bare })
    cache.set("k", [Decorated.new("a"), Bare.new("b")])

    assert_equal %w[A! B!], cache.get("k").map(&:shout)
    assert_equal "A!", cache.fetch("l") { Decorated.new("a") }.shout
    assert_equal "A!", cache.get("l").shout
  end

  # Its equality says nothing to a cache.
  class Sly
    def equal?(_other) = raise("not to be asked")
    def ==(_other) = raise("not to be asked")
  end

  def test_equality_of_the_program_s_own_is_not_asked
    sly = Polycache::Type.new(Sly, encode: ->(_) { 1 }, decode: ->(_) { Sly.new })
    found = round_trip([{ "a" => Sly.new }], types_cache(types: { sly: sly }))

    assert_instance_of Sly, found[0]["a"]
  end

  def test_an_encode_that_raises
    cache = types_cache(types: TYPES, store_errors: "raise")
    [IOError.new("secret"), NotImplementedError.new("secret")].each do |cause|
      value = { "list" => [1, Order.new(customer: Failing.new(cause))] }
      ways = [-> { cache.set("k", value) }, -> { cache.fetch("k") { value } }]
      ways.each do |way|
        error = assert_raises(Polycache::UnsupportedValue, &way)

        assert_equal "$.list[1].customer", error.path
        assert_same cause, error.cause
        refute_includes error.message, "secret"
        refute cache.has?("k")
      end
    end
  end

  def test_what_an_encode_returns_has_to_be_a_value
    types = { "point" => Polycache::Type.new(Point, encode: ->(point) { { "x" => [point.x] } },
                                                    decode: ->(_) { flunk }) }
    cache = types_cache(types: types)
    value = [Point.new(Object.new, 0)]
    error = assert_raises(Polycache::UnsupportedValue) { cache.set("k", value) }

    assert_equal "$[0].x[0]", error.path
  end

  def test_a_loaded_value_whose_encode_raises_is_handed_over
    cache = types_cache(types: TYPES)
    value = [Failing.new(IOError.new)]
    found = nil
    assert_output(nil, /unsupported_value/) { found = cache.fetch("k") { value } }

    assert_same value, found
    assert_equal 1, cache.stats[:unstored]
    refute cache.has?("k")
  end

  def test_a_decode_that_raises_is_an_error_and_no_miss
    cause = IOError.new("secret")
    cache = types_cache(types: decoding { raise cause })
    cache.set("k", { "a b" => [1, Point.new(1, 2)] })
    ways = [-> { cache.get("k") }, -> { cache.get("k", 5) }, -> { cache.fetch("k") { flunk } },
            -> { cache.get_many(["k"]) }, -> { cache.fetch("new") { [Point.new(1, 2)] } },
            -> { cache.peek("k") }, -> { cache.take("k") }, -> { cache.entry("k") },
            -> { cache.get_or_set_many(["n"]) { { "n" => [Point.new(1, 2)] } } }]
    ways.each do |way|
      error = assert_raises(Polycache::WrongType, &way)

      assert_match(/\A\$(\["a b"\])?\[[01]\]\z/, error.path)
      assert_same cause, error.cause
      assert_equal "wrong_type", error.code
      refute_includes error.message, "secret"
    end
    assert cache.has?("k")
    assert cache.has?("new")
  end

  def test_those_who_joined_get_the_error_of_decode_too
    cache = types_cache(types: decoding { raise IOError })
    begun = Thread::Queue.new
    go = Thread::Queue.new
    outcome = lambda do |&load|
      cache.fetch("k", &load)
    rescue Polycache::WrongType => e
      e.cause.class
    end
    leader = Thread.new do
      outcome.call do
        begun << true
        go.pop
        Point.new(1, 2)
      end
    end
    begun.pop
    joined = Thread.new { outcome.call { flunk } }
    Thread.pass until joined.status == "sleep"
    go << true

    assert_equal [IOError, IOError], [leader.value, joined.value]
  end

  # An error that is only the thread's goes through, and nothing is left behind.
  def test_what_ends_a_thread_goes_through
    how = nil
    type = Polycache::Type.new(Point, encode: ->(_) { how.call }, decode: ->(_) { how.call })
    cache = types_cache(types: { "point" => type })
    [[Interrupt, -> { raise Interrupt }], [SystemExit, -> { exit }],
     [UncaughtThrowError, -> { throw :other }]].each do |error, raising|
      how = raising
      expected = error == UncaughtThrowError ? Polycache::UnsupportedValue : error
      assert_raises(expected) { cache.set("k", Point.new(1, 2)) }
      how = -> { raise Interrupt }
      assert_raises(Interrupt) { cache.fetch("k") { Point.new(1, 2) } }
      assert_equal(:thrown, catch(:done) do
        how = -> { throw(:done, :thrown) }
        cache.fetch("k") { Point.new(1, 2) }
      end)
      refute cache.has?("k")
      how = -> { 5 }

      assert_equal 5, cache.fetch("k") { Point.new(1, 2) }
      how = -> { raise Interrupt }
      assert_raises(Interrupt) { cache.get("k") }
      cache.delete("k")
    end
  end

  # A caller is killed within encode or decode: those that joined go on.
  def test_a_thread_that_is_killed_in_a_function
    stops = %i[encode decode].to_h { |name| [name, [Thread::Queue.new, Thread::Queue.new]] }
    at = nil
    pass = lambda do |name, result|
      if at == name
        stops[name][0] << true
        stops[name][1].pop
      end
      result
    end
    type = Polycache::Type.new(Point, encode: ->(point) { pass.call(:encode, [point.x]) },
                                      decode: ->(value) { pass.call(:decode, value) })
    cache = types_cache(types: { "point" => type })
    %i[encode decode].each do |name|
      at = name
      killed = Thread.new { cache.fetch("k") { Point.new(1, 2) } }
      stops[name][0].pop
      at = nil
      killed.kill.join
      assert_equal [1], Timeout.timeout(20) { cache.fetch("k") { Point.new(1, 2) } }
      cache.delete("k")
    end
  end

  def test_functions_may_use_the_cache
    cache = nil
    type = Polycache::Type.new(
      Point, encode: ->(point) { cache.set("x", point.x) || [cache.get("x")] },
             decode: ->(value) { cache.fetch("seen") { 0 } && [value, cache.get("x")] }
    )
    cache = types_cache(types: { "point" => type })
    cache.set("k", [Point.new("in x", 1)])

    assert_equal [[["in x"], "in x"]], cache.get("k")
    assert_equal [["y"], "y"], cache.fetch("new") { Point.new("y", 1) }
  end

  def test_encode_is_called_once_for_a_value_that_is_stored
    calls = []
    type = Polycache::Type.new(Point, encode: ->(point) { (calls << point.x) && [point.x] },
                                      decode: ->(value) { Point.new(*value, nil) })
    cache = types_cache(types: { "point" => type })
    cache.set("a", ["text", Point.new(1, 2), :s.to_s])
    cache.fetch("b") { { "p" => Point.new(2, 2) } }
    cache.get("a")
    cache.get("b")

    assert_equal [1, 2], calls
  end

  def test_a_registered_type_in_a_set_or_as_a_key_is_refused
    cache = types_cache(types: TYPES)
    [Set[1, ada], Set[1, Polycache::Named.new("n", nil)]].each do |set|
      error = assert_raises(Polycache::UnsupportedValue) { cache.set("k", { "a" => set }) }

      assert_equal "$.a[1]", error.path
    end
    assert_raises(Polycache::UnsupportedValue) { cache.set("k", { ada => 1 }) }
  end

  def test_cycles_and_depth_through_types
    cycle = ada
    cycle.name = [cycle]
    within = ada
    hash = { "u" => within }
    within.name = hash
    deep = (1..129).reduce(nil) { |inner, _| User.new(1, inner) }
    cache = types_cache(types: TYPES)
    [cycle, hash, deep].each do |value|
      assert_raises(Polycache::UnsupportedValue) { cache.set("k", value) }
    end
    fits = (1..60).reduce(nil) { |inner, _| User.new([1], inner) }

    assert_equal fits, round_trip(fits, cache)
    assert_equal(fits, Fiber.new { round_trip(fits, cache) }.resume)
  end

  def test_a_name_that_is_none_is_refused_where_it_stands
    cache = types_cache
    ["", "n" * 256, "é" * 128, nil, 5, "a".b, "\xFF"].each do |name|
      error = assert_raises(Polycache::UnsupportedValue, name.inspect) do
        cache.set("k", [[Polycache::Named.new(name, 1)]])
      end

      assert_equal "$[0][0]", error.path
    end
    [+"n", "n" * 255, :symbol, "é" * 127, "é".encode("UTF-16LE")].each do |name|
      text = name.to_s.encode("UTF-8")
      found = round_trip(Polycache::Named.new(name, 1), cache)

      assert_equal [text, Encoding::UTF_8], [found.name, found.name.encoding]
    end
  end

  def test_namespaces_know_the_types
    cache = types_cache(types: TYPES)
    skip "it has no namespaces" unless cache.respond_to?(:namespace)

    assert_equal order, round_trip(order, cache.namespace("a").namespace("b"))
  end

  def test_in_children_of_the_process
    cache = types_cache(types: TYPES)
    cache.set("k", order)
    reader, writer = IO.pipe
    child = fork do
      writer << (cache.get("k") == order && round_trip(ada, cache) == ada)
      exit!(0)
    end
    writer.close

    assert_equal "true", reader.read
    Process.wait(child)
  end

  def test_when_every_allocation_collects
    skip "nothing is out of sight there" if defined?(WITHOUT_EXTENSION) && WITHOUT_EXTENSION

    cache = types_cache(types: TYPES)
    value = [order, Polycache::Named.new("x", [+"y"])]
    GC.stress = true
    found = round_trip(value, cache)
    loaded = cache.fetch("l") { value }
    GC.stress = false

    assert_equal [value, value], [found, loaded]
  ensure
    GC.stress = false
  end
end
