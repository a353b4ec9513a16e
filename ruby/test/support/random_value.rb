# frozen_string_literal: true

# Makes values of every row of the type map.
class RandomValue
  TEXT = ["a", "é", "日", "😀", "\0", "\"", "\\", "\n", "\u2028", "k" * 40].freeze
  private_constant :TEXT

  def initialize(random)
    @random = random
  end

  def next(depth = 4)
    case @random.rand(depth.zero? ? 11 : 16)
    when 11, 12 then many(5) { self.next(depth - 1) }
    when 13 then many(5) { [text, self.next(depth - 1)] }.to_h
    when 14 then many(5) { scalar }.to_set
    when 15 then Polycache::Named.new("n#{text}", self.next(depth - 1))
    else scalar
    end
  end

  private

  def many(most, &make) = Array.new(@random.rand(most + 1), &make)
  def text = many(6) { TEXT.sample(random: @random) }.join.encode("UTF-8")

  def scalar
    case @random.rand(9)
    when 0 then [nil, true, false].sample(random: @random)
    when 1 then @random.rand(-(2**70)..(2**70)) >> @random.rand(70)
    when 2 then @random.rand(-1e9..1e9)
    when 3 then [Float::NAN, Float::INFINITY, -0.0, 5e-324].sample(random: @random)
    when 4, 5 then text
    when 6 then @random.bytes(@random.rand(50))
    when 7 then Time.at(@random.rand(-(10**10)..(10**10)), @random.rand(10**9), :nanosecond).utc
    else number_or_uuid
    end
  end

  def number_or_uuid
    return Polycache::UUID.from_bytes(@random.bytes(16)) if @random.rand(2).zero?

    BigDecimal("#{@random.rand(-(10**20)..(10**20))}E#{@random.rand(-40..40)}")
  end
end
