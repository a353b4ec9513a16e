# frozen_string_literal: true

require "bigdecimal"
require "memory/helper"

# Copies and weights, by plain Ruby and by the extension: both the same.
class CopiesTest < Minitest::Test
  Memory = Polycache::Memory
  WAYS = [Memory::PlainCopies, Memory::Copies].uniq
  NO_TYPES = Polycache.const_get(:Types)::NONE

  # A key that is frozen to its depth and has code of its own.
  class Key
    class << self
      attr_accessor :code
    end

    def initialize = freeze
    def eql?(other) = equal?(other)

    def hash
      self.class.code&.call
      5
    end
  end

  Point = Struct.new(:x, :y)
  Words = Class.new(Array)
  Text = Class.new(String)
  Table = Class.new(Hash)
  Moment = Class.new(Time)

  def test_the_extension_is_used_where_it_is
    expected = WITHOUT_EXTENSION ? Memory::PlainCopies : Polycache::Native::Copies

    assert_same expected, Memory::Copies
  end

  # What a cache does with a value: [bytes, plan but how, the copy and another].
  def through(way, value, freeze: false)
    kept, plan, bytes = way.keep(value, freeze, NO_TYPES)
    [bytes, [plan == :packed ? :tree : plan, *Array.new(2) { out(way, kept, plan) }]]
  rescue Polycache::UnsupportedValue => e
    [:refused, e.message, e.path]
  end

  def out(way, kept, plan)
    case plan
    when nil then kept
    when :packed then kept.unpack
    else way.send(plan, kept)
    end
  end

  # Everything that can be told of an object by looking: classes, frozen or not, encodings, and
  # which parts are the same object. An object that is met again is a number.
  def look(object, seen = {}.compare_by_identity)
    case object
    when nil, true, false, Integer, Float, Symbol, Module then return object.inspect
    end
    return seen[object] if seen[object]

    seen[object] = seen.size
    [object.class, object.frozen?, inside(object, seen)]
  end

  def inside(object, seen)
    case object
    when String then [object.b, object.encoding, object.valid_encoding?, object.ascii_only?]
    when Array, Set then object.map { |part| look(part, seen) }
    when Hash
      [object.compare_by_identity?, object.default, object.default_proc,
       object.map { |pair| pair.map { |part| look(part, seen) } }]
    when Time then [object.to_r, object.utc_offset, object.instance_variables]
    else object.inspect
    end
  end

  def assert_same_by_both(value, message = nil)
    answers = [false, true].map do |freeze|
      WAYS.map do |way|
        answer = through(way, value, freeze: freeze)
        answer[0] == :refused ? answer : [answer[0], look(answer[1])]
      end
    end
    answers.each { |of_ways| assert_equal 1, of_ways.uniq.size, message || of_ways.inspect }
    weights = WAYS.map { |way| way.weigh(value) }

    assert_equal 1, weights.uniq.size, message || weights.inspect
    answers
  end

  # Makes values of everything, with parts that are met again, cycles, frozen ones and culprits.
  class Anything
    def initialize(random)
      @random = random
      @made = []
    end

    # What is packed: many parts, none met twice.
    def rows
      Array.new(@random.rand(10..20)) do
        row = Array.new(@random.rand(12)) { [key, @random.rand(4).zero? ? [scalar] : scalar] }.to_h
        @random.rand(9).zero? ? [row.to_a.to_set, String] : row
      end
    end

    # A list, because anything but a container is simple.
    def root = Array.new(@random.rand(1..12)) { self.next }

    def next(depth = 4)
      kind = @random.rand(depth.zero? ? 14 : 24)
      value =
        case kind
        when 14..16 then many { self.next(depth - 1) }
        when 17..20 then hash(depth)
        when 21 then many { self.next(depth - 1) }.to_set
        when 22 then again(depth)
        when 23 then rare(depth)
        else scalar
        end
      value.freeze if @random.rand(12).zero?
      @made << value if @random.rand(6).zero?
      value
    end

    private

    def many(most = 6, &make) = Array.new(@random.rand(most), &make)

    def hash(depth)
      hash = {}
      hash.compare_by_identity if @random.rand(12).zero?
      hash.default = 5 if @random.rand(20).zero?
      @random.rand([3, 6, 12].sample(random: @random)).times do
        hash[@random.rand(12).zero? ? self.next(depth - 1) : key] = self.next(depth - 1)
      end
      hash
    end

    def key
      [text, text, :symbol, :"of #{@random.rand(9)}", @random.rand(99)].sample(random: @random)
    end

    # What was made already, or what holds itself.
    def again(depth)
      return @made.sample(random: @random) || self.next(depth - 1) unless @random.rand(4).zero?

      list = [self.next(depth - 1)]
      list << list
    end

    def rare(depth)
      part = self.next(depth - 1)
      case @random.rand(9)
      when 0 then Words.new([part])
      when 1 then Table.new.merge!("k" => part)
      when 2 then Text.new(text)
      when 3 then [part, proc {}]
      when 4 then Moment.at(5)
      when 5 then String
      when 6 then Hash.new { 5 }.merge!("k" => part)
      when 7 then [1, [part.frozen? ? part : 2].freeze].freeze
      else Point.new(1, part)
      end
    end

    def text
      text = %w[a é 日本 name email@example.com].sample(random: @random) * @random.rand(8)
      text = text.dup.force_encoding("BINARY") if @random.rand(9).zero?
      text = text.encode("UTF-16LE") if text.encoding == Encoding::UTF_8 && @random.rand(9).zero?
      @random.rand(20).zero? ? "\xff#{@random.rand(9)}" : text
    end

    def scalar
      case @random.rand(9)
      when 0 then [nil, true, false, :symbol].sample(random: @random)
      when 1 then [0, -1, 2**61, 2**62, -(2**62), (-(2**62)) - 1, -(2**64), 2**64, (2**64) - 1,
                   3**99].sample(random: @random)
      when 2 then [0.5, 1e300, Float::INFINITY].sample(random: @random)
      when 3 then Time.at(@random.rand(10**9), 5, :nsec, in: "+02:00")
      when 4 then [1r, 2i, (1..3), BigDecimal("1.5"), /x/].sample(random: @random)
      else text
      end
    end
  end

  def test_both_ways_are_the_same_for_any_value
    seed = Minitest.seed
    700.times do |number|
      anything = Anything.new(Random.new(seed + number))
      %i[root rows].each do |kind|
        message = "#{kind} of Anything.new(Random.new(#{seed + number}))"
        assert_same_by_both(anything.send(kind), message)
      end
    end
  end

  def test_what_a_copy_has_of_its_own
    list = Array.new(40) { |at| { "id" => at, :name => +"name #{at}", "tags" => [+"é", "x"] } }
    WAYS.each do |way|
      kept, plan, = way.keep(list, false, NO_TYPES)
      first, second = Array.new(2) { out(way, kept, plan) }

      assert_equal [list] * 2, [first, second]
      first[0][:name] << "!"
      first[0]["tags"][0] << "!"
      first[1]["more"] = 1
      first.pop
      list[2][:name] << "?"

      assert_equal({ "id" => 0, name: "name 0", "tags" => %w[é x] }, out(way, kept, plan)[0])
      assert_equal "name 2", out(way, kept, plan)[2][:name]
      assert_equal 40, second.size
      assert_same first[0].keys[0], second[0].keys[0], "keys are frozen, and shared"
      list[2][:name].chop!
    end
  end

  def test_sizes_on_both_sides_of_each_bound
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100].each do |size|
      assert_same_by_both(Array.new(size) { |at| at })
      assert_same_by_both(Array.new(size) { +"x" })
      assert_same_by_both([Array.new(size) { |at| [at, +"x"] }] * 2)
      assert_same_by_both(Array.new(9) { (1..size).to_h { |at| ["k#{at}", at] } })
      assert_same_by_both(Array.new(9) { (1..size).to_h { |at| [at, at > 1 ? 1 : +"x"] } })
      assert_same_by_both(Array.new(9) { (1..size).to_h { |at| [:"k#{at}", "x" * size] } })
      assert_same_by_both(Array.new(9) { Set.new((1..size).map(&:to_s)) })
      assert_same_by_both(Array.new(40) { "é" * size })
      assert_same_by_both(Array.new(40) { "\xff".b * size })
    end
  end

  def test_depth
    [6, 7, 8, 9, 10, 24, 100, 999, 1000].each do |depth|
      value = (1..depth).reduce(nil) { |inner, at| at.odd? ? [inner, +"x"] : { "k" => inner } }
      list = [value] + Array.new(40) { +"y" }
      WAYS.each do |way|
        kept, plan, = way.keep(depth < 1000 ? list : value, false, NO_TYPES)

        assert_equal (depth < 1000 ? list : value), out(way, kept, plan)
      end
    end
    deep = (1..1001).reduce(nil) { |inner, _| [inner] }
    answers = assert_same_by_both(deep)

    assert_match(/\A\$(\[0\]){1000}: nested deeper than 1000/, answers[0][0][1])
  end

  # A thread's stack is small, a fiber's smaller: Ruby's own error at worst.
  def test_depth_where_the_stack_is_small
    value = (1..1000).reduce(nil) { |inner, at| at.odd? ? [inner, +"x"] : { "k" => inner } }
    WAYS.each do |way|
      copies = lambda do
        kept, plan, = way.keep(value, false, NO_TYPES)
        out(way, kept, plan) == value
      rescue SystemStackError
        true
      end

      assert Fiber.new(&copies).resume
      assert Thread.new(&copies).value
      assert Thread.new { Fiber.new(&copies).resume }.value
    end
  end

  def test_paths_of_what_is_refused
    {
      "$" => proc {}, "$[1]" => [1, proc {}], "$.a[0]" => { "a" => [proc {}] },
      "$[\"b c\"].d" => { "b c" => { d: Object.new } }, "$[2]" => { 2 => Object.new },
      "$[0]" => Set[proc {}]
    }.each do |path, value|
      WAYS.each do |way|
        error = assert_raises(Polycache::UnsupportedValue) { way.keep(value, false, NO_TYPES) }

        assert_equal path, error.path
        assert_includes error.message, "#{path}: an object of"
      end
    end
  end

  # Keys run code of users while a copy is filled. What it raises comes out; what it changes
  # is seen or not, and nothing breaks.
  def test_keys_with_code_of_their_own
    WAYS.each do |way|
      list = Array.new(50) { +"x" }
      hash = { Key.new => [+"x"], "rest" => list }
      list << hash
      running(-> { list.clear && GC.start }) { way.keep([list, hash], false, NO_TYPES) }
      kept, plan, = way.keep([hash], false, NO_TYPES)
      raising = -> { raise IOError, "from hash" }

      assert_equal [[["x"], []]], out(way, kept, plan).map(&:values)
      assert_raises(IOError) { running(raising) { way.keep([hash], false, NO_TYPES) } }
      # A copy of the table asks no key.
      assert_equal [[["x"], []]], running(raising) { out(way, kept, plan) }.map(&:values)
      adding = -> { hash["new"] = 1 }

      assert_raises(RuntimeError) { running(adding) { way.keep([hash], false, NO_TYPES) } }
    end
  end

  def running(code)
    Key.code = code
    yield
  ensure
    Key.code = nil
  end

  def test_elements_with_code_of_their_own
    WAYS.each do |way|
      kept, plan, = way.keep(Set[Key.new, 1], false, NO_TYPES)

      assert_equal 2, out(way, kept, plan).size
      assert_raises(IOError) { running(-> { raise IOError }) { out(way, kept, plan) } }
    end
  end

  def test_when_every_allocation_collects
    text = +"met twice"
    values = [
      [{ "a" => [+"x", { b: +"y" }], 2**70 => Time.at(5), "s" => Set[+"z", [1]] }],
      Array.new(12) { |at| { "id" => at, "name" => "name #{at}" } },
      (1..12).to_h { |at| ["key #{at}", +"value"] },
      [text, text, { "t" => text }.compare_by_identity]
    ]
    values.each do |value|
      WAYS.each do |way|
        expected = look(through(way, value)[1])
        frozen = look(through(way, value, freeze: true)[1])
        GC.stress = true
        found = through(way, value)[1]
        found_frozen = through(way, value, freeze: true)[1]
        GC.stress = false

        assert_equal [expected, frozen], [look(found), look(found_frozen)]
      ensure
        GC.stress = false
      end
    end
  end

  def test_when_collections_move_objects
    skip "this platform does not compact" unless GC.respond_to?(:compact)

    value = Array.new(30) { |at| { "id" => at, "name" => "a name that is long: #{at}", at => 1.5 } }
    WAYS.each do |way|
      kept, plan, = way.keep(value, false, NO_TYPES)
      5.times do
        Array.new(1000) { |at| at.to_s * 3 }
        GC.compact

        assert_equal value, out(way, kept, plan)
      end
      # Not amid an incremental marking: see random_values_test.rb.
      GC.start
      GC.auto_compact = true
      20.times { assert_equal value, through(way, value)[1][1] }
    ensure
      GC.auto_compact = false
    end
  end

  # Nothing else holds what a stored value refers to: it was made in a thread that is gone.
  def test_what_is_stored_is_held
    WAYS.each do |way|
      make = lambda do |at|
        Array.new(20) { |row| { "key #{at} #{row}" => "a text that is long: #{at} #{row}" } }
      end
      stored = Thread.new { Array.new(50) { |at| way.keep(make.call(at), false, NO_TYPES) } }.value
      GC.start
      Array.new(50_000) { |at| "something else that is as long: #{at}" }

      stored.each_with_index do |(kept, plan, _), at|
        assert_equal make.call(at), out(way, kept, plan)
      end
    end
  end

  def test_values_that_are_dropped_are_freed
    value = Array.new(2000) { |at| "text #{at}" }
    keep = -> { 3000.times { Memory::Copies.keep(value, false, NO_TYPES) } }
    keep.call
    before = resident
    keep.call

    assert_operator resident, :<, before + (100 << 20)
  end

  private

  def resident = File.read("/proc/self/statm").split[1].to_i * 4096
end
