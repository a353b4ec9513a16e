# frozen_string_literal: true

require "test_helper"

class UUIDTest < Minitest::Test
  TEXT = "018bcfe5-6800-7abc-8def-0123456789ab"

  def test_text_and_bytes
    uuid = Polycache::UUID.new(TEXT.upcase)

    assert_equal TEXT, uuid.to_s
    assert_equal uuid, Polycache::UUID.from_bytes(uuid.bytes)
    assert_equal 16, uuid.bytes.bytesize
    assert_equal Encoding::BINARY, uuid.bytes.encoding
    assert_includes uuid.inspect, TEXT
    assert_predicate uuid, :frozen?
  end

  def test_equal_ones_are_one_key_of_a_hash
    one = Polycache::UUID.new(TEXT)
    other = Polycache::UUID.new(TEXT)

    assert_equal 1, { one => 1 }[other]
    assert_equal one, other
    refute_equal one, TEXT
    refute_equal one, Polycache::UUID.random
  end

  def test_order_is_that_of_the_bytes
    low, high = %w[00 ff].map { |start| Polycache::UUID.new(start + TEXT[2..]) }

    assert_equal [low, high], [high, low].sort
    assert_nil low <=> TEXT
  end

  def test_what_is_no_uuid_is_refused
    [nil, 1, "", TEXT.delete("-"), "#{TEXT}\n", TEXT.tr("0", "g"), "{#{TEXT}}"].each do |wrong|
      assert_raises(Polycache::InvalidArgument, wrong.inspect) { Polycache::UUID.new(wrong) }
    end
    assert_raises(Polycache::InvalidArgument) { Polycache::UUID.from_bytes("x" * 15) }
    assert_raises(Polycache::InvalidArgument) { Polycache::UUID.from_bytes("x" * 17) }
  end
end
