# frozen_string_literal: true

require "memory/helper"

# The options ttl and jitter.
class LifetimeTest < Minitest::Test
  # Random numbers that a test gives, and what they were asked for below.
  class Dice
    attr_reader :bounds

    def initialize(*numbers)
      @numbers = numbers
      @bounds = []
    end

    def rand(below)
      @bounds << below
      @numbers.shift
    end
  end

  Lifetime = Polycache::Memory::Lifetime

  def test_without_a_jitter_every_write_has_the_whole_ttl
    dice = Dice.new

    assert_equal 300_000, Lifetime.new("5m", nil, dice).next
    assert_equal 300_000, Lifetime.new("5m", 0, dice).next
    assert_nil Lifetime.new(nil, nil, dice).next
    assert_empty dice.bounds
  end

  def test_a_jitter_shortens_it
    { 0.1 => 1000, 1/4r => 2500, 0.99999 => 9999, "2s" => 2000, 2 => 2000,
      "1s" => 1000, 1.001 => 1001, 9.999 => 9999 }.each do |jitter, spread|
      dice = Dice.new(0, spread)
      lifetime = Lifetime.new("10s", jitter, dice)

      assert_equal [10_000, 10_000 - spread], [lifetime.next, lifetime.next], jitter
      assert_equal [spread + 1] * 2, dice.bounds
    end
  end

  def test_a_jitter_of_one_could_be_a_part_or_a_second
    [1, 1.0, 1r].each do |jitter|
      error = assert_raises(Polycache::InvalidArgument) { Lifetime.new("10s", jitter) }

      assert_match(/\Ajitter 1 may mean one second, or all of the ttl: write "1s"/, error.message)
    end
  end

  def test_wrong_jitters
    [10, "10s", "11s", -0.1, -1, Float::NAN, Float::INFINITY, "0s", "x", :x, true,
     1i].each do |jitter|
      error = assert_raises(Polycache::InvalidArgument, jitter.inspect) do
        Lifetime.new("10s", jitter)
      end
      assert_match(/\Ajitter is /, error.message)
    end
    assert_raises(Polycache::InvalidArgument) { Lifetime.new(nil, 0.1) }
    assert_raises(Polycache::InvalidArgument) { Polycache::MemoryCache.new(ttl: 5, jitter: 0.1) }
  end

  def test_a_cache_shortens_its_own_ttl_and_no_other
    cache = Polycache::Cache.new(ttl: 1000, jitter: 0.5, clock: ManualClock.new)
    lefts = Array.new(100) do |number|
      cache.set(number.to_s, 1)
      cache.ttl(number.to_s)
    end

    assert(lefts.all? { |left| left.between?(500, 1000) })
    assert_operator lefts.uniq.size, :>, 1
    cache.set("own", 1, ttl: 1000)

    assert_in_delta 1000.0, cache.ttl("own")
  end
end
