# frozen_string_literal: true

require "json"
require "minitest/autorun"
require "polycache/redis_namespace"

# Calls of every command of three servers, with the positions of the keys that these servers find
# themselves (spec/vectors/commands.json).
class RedisNamespaceVectorsTest < Minitest::Test
  SPEC = File.expand_path("../../spec", __dir__)
  TABLE = Polycache::RedisNamespace::CommandTable.default

  def test_keys_are_rewritten_and_nothing_else
    prefix = Polycache::RedisNamespace::Prefix.new("shop")
    calls = JSON.parse(File.read("#{SPEC}/vectors/commands.json"))
    calls.each do |words, prefixed|
      expected = words.each_with_index.map { |word, at| prefixed.include?(at) ? "shop:#{word}" : word }
      assert_equal expected, TABLE.find(words).rewrite(words.dup, prefix)
    end
  end
end
