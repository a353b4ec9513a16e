# frozen_string_literal: true

require "memory/helper"

# Any sequence of operations, against a plain Hash with a clock.
class ModelTest < Minitest::Test
  include MemoryCaches

  KEYS = %w[a b c d e f g h i j k l].freeze
  NOTHING = Object.new

  # What a cache without bounds holds: [value, expires, ttl]. An entry of the cache that was
  # evicted is taken out here by the listener, so the rest has to be the same.
  class Model
    attr_reader :held, :gone

    def initialize(clock)
      @clock = clock
      @held = {}
      @gone = []
    end

    def set(key, value, ttl) = @held[key] = [value, ttl && (@clock.now + ttl), ttl]

    def get(key)
      value, expires, = @held[key]
      return NOTHING unless @held.key?(key)

      expires && expires <= @clock.now ? NOTHING : value
    end

    def delete(key)
      there = !NOTHING.equal?(get(key))
      @held.delete(key)
      there
    end
  end

  %w[2q-clock lru].product(%w[clone freeze none]).each do |policy, isolation|
    4.times do |seed|
      define_method("test_#{policy}_#{isolation}_#{seed}") { run_model(policy, isolation, seed) }
    end
  end

  # The policy "lru" evicts exactly what was used longest ago.
  def test_lru_is_exact
    random = Random.new(7)
    lru = cache(max_entries: 5, policy: "lru")
    used = []
    2000.times do
      key = KEYS.sample(random: random)
      if random.rand(2).zero?
        assert_equal used.include?(key), lru.has?(key) && !lru.get(key).nil?
        used << used.delete(key) if used.include?(key)
      else
        lru.set(key, key)
        used.delete(key)
        used << key
        used.shift if used.size > 5
      end

      assert_equal used.sort, lru.keys.sort
    end
  end

  private

  def run_model(policy, isolation, seed)
    random = Random.new(seed)
    model = Model.new(@clock)
    forget = ->(key, _, cause) { model.held.delete(key) if cause == :evicted }
    tested = cache(policy: policy, isolation: isolation, max_entries: 7, max_bytes: 60,
                   weigher: ->(_, value) { value }, removal_listener: forget)
    1500.times do |at|
      step(random, tested, model)
      Structure.check(tested) if (at % 50).zero?
    end
  end

  def step(random, tested, model)
    key = KEYS.sample(random: random)
    case random.rand(20)
    when 0..6
      assert_same_value model.get(key), tested.get(key, NOTHING)
    when 7..12
      value = random.rand(1..20)
      ttl = [nil, 50, 500].sample(random: random)
      tested.set(key, value, ttl: ttl && (ttl / 1000r))
      model.set(key, value, ttl) if tested.has?(key)
    when 13
      assert_equal model.delete(key), tested.delete(key)
    when 14 then assert_equal !NOTHING.equal?(model.get(key)), tested.has?(key)
    when 15
      assert_raises(Polycache::EntryTooLarge) { tested.set(key, 61) }
      model.held.delete(key)
    when 16
      value = model.get(key)
      found = tested.fetch(key) { 3 }
      NOTHING.equal?(value) ? model.set(key, 3, nil) : assert_equal(value, found)
    when 17 then same_keys(model, tested)
    when 18 then @clock.advance(random.rand(120))
    else
      next_clear(random, tested, model)
    end
  end

  def next_clear(random, tested, model)
    return assert_same_value(model.get("a"), tested.peek("a", NOTHING)) unless random.rand(10).zero?

    tested.clear
    model.held.clear
  end

  def same_keys(model, tested)
    there = model.held.keys.reject { |key| NOTHING.equal?(model.get(key)) }

    assert_equal there.sort, tested.keys.sort
    assert_equal there.to_h { |key| [key, model.get(key)] }, tested.each.to_h
  end

  def assert_same_value(expected, found)
    NOTHING.equal?(expected) ? assert_same(NOTHING, found) : assert_equal(expected, found)
  end
end
