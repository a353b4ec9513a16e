# frozen_string_literal: true

require "json"

require_relative "helper"

# Calls of every command of three servers, with the positions of the keys that these servers find
# themselves (spec/vectors/commands.json).
class RedisNamespaceVectorsTest < Minitest::Test
  SPEC = File.expand_path("../../../spec", __dir__)
  TABLE = Polycache::RedisNamespace::CommandTable.default

  def test_keys_are_rewritten_and_nothing_else
    prefix = Polycache::RedisNamespace::Prefix.new("shop")
    calls = JSON.parse(File.read("#{SPEC}/vectors/commands.json"))
    calls.each do |words, prefixed|
      expected = words.each_with_index.map do |word, at|
        prefixed.include?(at) ? "shop:#{word}" : word
      end
      assert_equal expected, TABLE.find(words).rewrite(words.dup, prefix)
    end
  end

  CASES = JSON.parse(File.read("#{SPEC}/vectors/namespaces.json"))

  def test_commands
    CASES["commands"].each do |example|
      session = session_of(example)
      words = example["words"].map(&:dup)
      if example.key?("error")
        error = assert_raises(Polycache::Error, example) { session.rewrite(words) }
        assert_equal example["error"], error.code, example
      else
        session.rewrite(words)
        assert_equal example["sent"], words
      end
    end
  end

  def test_replies
    CASES["replies"].each do |example|
      taken_off = session_of(example).rewrite(example["words"].map(&:dup))
      assert_reply example["returns"], taken_off.call(example["reply"]), example
    end
  end

  def test_events
    CASES["events"].each do |example|
      assert_reply example["told"], session_of(example).message(example["event"]), example
    end
  end

  def test_options_that_are_wrong
    CASES["options"].each do |example|
      error = assert_raises(Polycache::Error, example) { session_of(example) }
      assert_equal example["error"], error.code, example
    end
  end

  def test_transactions
    CASES["transactions"].each do |example|
      session = session_of(example)
      example["steps"].each { |step| assert_step(session, step, example["says"]) }
    end
  end

  private

  # What a server raises.
  Failed = Class.new(StandardError)

  def assert_step(session, step, says)
    words = step["words"].map(&:dup)
    if step["fails"]
      assert_raises(Failed, says) { session.call_once(words) { raise Failed, step["fails"] } }
    else
      assert_reply step["returns"], session.call_once(words) { step["reply"] }, says
    end
  end

  def session_of(example)
    options = example.slice("namespace", "separator", "allow", "commands")
    Polycache::RedisNamespace::Session.new(options)
  end

  def assert_reply(expected, found, example)
    expected.nil? ? assert_nil(found, example) : assert_equal(expected, found, example)
  end
end
