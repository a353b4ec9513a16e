# frozen_string_literal: true

require_relative "helper"
require "polycache/redis_namespace/words"

# What usual commands are spared must not show: they come to the words that the long way gives.
class ShortWaysTest < Minitest::Test
  Session = Polycache::RedisNamespace::Session
  Words = Polycache::RedisNamespace::Words
  Prefix = Polycache::RedisNamespace::Prefix

  # Arguments as redis-rb hands them over; a name is put before them.
  ARGUMENTS = [
    [], ["a"], %w[a b], %w[a b c d e], %i[a b], [1, 2.5, "c"], %w[GET SET STORE],
    [%w[a b], "c"], ["a", %w[b c]], ["a", { "f" => 1, g: 2 }, "z"], [{ "a" => 1 }, "b"],
    ["a", %w[b c], "d", "e"], ["shop:a", "shop:b"], ["é", "\xFF\x00".b, "b"], ["a".encode("UTF-16")]
  ].freeze

  def test_every_command_with_every_kind_of_argument
    commands = JSON.parse(File.read(Polycache::RedisNamespace::CommandTable::FILE))["commands"]
    short = 0
    commands.each_key do |name|
      next if name.include?("|")

      %w[shop é].product(ARGUMENTS) { |space, given| short += 1 if same?(space, name, given) }
    end

    assert_operator short, :>, 2000
  end

  def test_words_are_those_of_redis_client
    [*ARGUMENTS.map { |given| [:get, *given] }, ["get", :a, [1, :b]]].each do |command|
      before = Marshal.dump(command)

      assert_equal RedisClient::CommandBuilder.generate(command), Words.of(command.freeze)
      assert_equal before, Marshal.dump(command)
    end
    assert_raises(TypeError) { Words.of([:get, nil]) }
    assert_raises(TypeError) { Words.of(["get", true]) }
    assert_raises(ArgumentError) { Words.of([]) }
  end

  def test_what_is_frozen_stays_as_it_is
    names = %w[shop:a shop:b other].map(&:freeze).freeze

    assert_equal %w[a b other], Prefix.new("shop").strip_all(names)
    assert_equal %w[shop:a shop:b other], names
  end

  def test_nothing_is_spared_inside_a_transaction
    session = Session.new({ namespace: "shop" })
    session.call(["MULTI"]) { "OK" }

    assert_nil session.flat([:get, "a"])
    assert_nil session.put_on_keys(%w[GET a])
    assert_equal "QUEUED", session.call(%w[KEYS *]) { "QUEUED" }
    assert_equal [["a"]], session.call(["EXEC"]) { [["shop:a"]] }
  end

  private

  # Whether there was a short way; it must then be the same as the long one.
  def same?(space, name, given)
    session = Session.new({ namespace: space })
    command = [name.downcase.to_sym, *given].freeze
    flat = session.flat(command)
    return false unless flat

    words = RedisClient::CommandBuilder.generate(command)
    kept = words.dup
    session.rewrite(words)

    assert_equal words, RedisClient::CommandBuilder.generate(flat), "#{space}: #{command.inspect}"
    in_place(session, kept, words)
  end

  def in_place(session, words, expected)
    before = words.dup
    original = session.put_on_keys(words)

    assert_equal expected, words
    original.is_a?(String) ? words[1] = original : words.replace(original)

    assert_equal before, words
  end
end
