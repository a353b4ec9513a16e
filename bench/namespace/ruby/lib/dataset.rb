# frozen_string_literal: true

# What every subject writes and reads: the names and sizes of the published page, with a list that
# does not grow. The prefix is empty for a client that writes it itself; a bare client's caller
# names the keys in full.
class Dataset
  STRING = "value"
  PAIR = %w[item1 item2].freeze
  ITEMS = Array.new(100) { |n| format("item%03d", n).freeze }.freeze
  FIELDS = %w[field1 value1 field2 value2].freeze
  MEMBERS = %w[member1 member2].freeze
  SCORES = [[1, "member1"], [2, "member2"], [3, "member3"]].freeze
  TEN = Array.new(10) { |n| "value#{n}".freeze }.freeze

  attr_reader :key, :many, :pushed, :list, :hash, :set, :users, :pattern, :sorted, :first, :second

  def initialize(prefix)
    @key = "#{prefix}key".freeze
    @many = Array.new(10) { |n| "#{prefix}mkey#{n}".freeze }.freeze
    @pushed = "#{prefix}pushed".freeze
    @list = "#{prefix}list".freeze
    @hash = "#{prefix}hash".freeze
    @set = "#{prefix}set".freeze
    @users = Array.new(10) { |n| "#{prefix}user:#{n}".freeze }.freeze
    @pattern = "#{prefix}user:*".freeze
    @sorted = "#{prefix}zset".freeze
    @first = "#{prefix}tx_key1".freeze
    @second = "#{prefix}tx_key2".freeze
  end

  # Every key that is there once each operation has run.
  def keys = [key, *many, pushed, list, hash, set, *users, sorted, first, second]

  # What each operation returns, by the page's names.
  def expected
    {
      "SET" => "OK", "GET" => STRING, "MGET (10 keys)" => TEN,
      "LPUSH" => 2, "LRANGE" => ITEMS,
      "HSET" => 0, "HGETALL" => FIELDS.each_slice(2).to_h,
      "SADD" => 0, "SMEMBERS" => MEMBERS,
      "KEYS" => users, "ZRANGE" => SCORES.map(&:last), "MULTI/EXEC" => %w[OK OK]
    }
  end

  # Operations that return in no order.
  UNORDERED = %w[SMEMBERS KEYS].freeze
end
