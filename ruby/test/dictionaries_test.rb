# frozen_string_literal: true

require "test_helper"
require "tmpdir"

# Dictionaries: spec/vectors, and a cache that compresses with them.
class DictionariesTest < Minitest::Test
  KNOWN = Vectors.rows("dictionaries.json").to_h do |row|
    [row["name"], [row["dictionary"]].pack("H*")]
  end

  def test_vectors_give_their_value_or_error
    Vectors.rows("dictionary_entries.json").each do |row|
      dictionaries = row["dictionaries"].map { |name| KNOWN.fetch(name) }
      dictionaries = nil if dictionaries.empty?
      read = -> { Polycache::Native.decode_entry([row["entry"]].pack("H*"), nil, "", dictionaries) }
      if row.key?("error")
        error = assert_raises(Polycache::Error, row["name"], &read)

        assert_equal row["error"], error.code, row["name"]
      else
        expected = Tagged.form(Tagged.load(row["value"]))

        assert_equal expected, Tagged.form(read.call[:value]), row["name"]
      end
    end
  end

  def test_a_cache_writes_with_the_first_and_reads_with_all
    first, second = KNOWN.values_at("first", "second")
    user = { "id" => 7, "name" => "user 7", "city" => "Chur", "active" => true }
    with_caches([first], [second, first], [second], nil) do |old, both, new, without|
      old.set("k", user)

      assert_equal user, both.get("k")
      assert_raises(Polycache::UnknownDictionary) { new.get("k") }
      assert_raises(Polycache::UnknownDictionary) { without.get("k") }
      both.set("k", user)

      assert_equal user, new.get("k")
    end
  end

  def test_what_is_no_list_of_dictionaries_is_refused
    one = KNOWN["first"]
    Dir.mktmpdir do |path|
      [[], ["no"], [7], one, [one, one]].each do |wrong|
        assert_raises(Polycache::InvalidArgument) do
          Polycache::Cache.new(path: path, compressor: "zstd", dictionaries: wrong)
        end
      end
      assert_raises(Polycache::InvalidArgument) do
        Polycache::Cache.new(path: path, dictionaries: [one])
      end
    end
  end

  private

  def with_caches(*lists)
    Dir.mktmpdir do |path|
      caches = lists.map do |list|
        Polycache::Cache.new(path: path, compressor: "zstd", dictionaries: list)
      end
      yield(*caches)
    ensure
      caches&.each(&:close)
    end
  end
end
