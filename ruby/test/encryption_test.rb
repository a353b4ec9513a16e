# frozen_string_literal: true

require "test_helper"

# Encryption: spec/vectors, and what conformance cases cannot say.
class EncryptionTest < Minitest::Test
  FACTS = %w[serializer compressor created expires fresh_until].freeze
  SECRET = "0123456789abcdefFEDCBA9876543210".b.freeze
  KEYS = [{ id: 20_261_122, key: SECRET }].freeze

  def self.files = Dir.children(Vectors::FOLDER).grep(/\Aencrypted\./).sort

  files.each do |file|
    define_method("test_#{file} is read") do
      rows = Vectors.rows(file)
      recipes = Vectors.rows("encryption.json")

      assert_equal(recipes.map { |row| comparable(row) }, rows.map { |row| comparable(row) })
      rows.each { |row| assert_read(row) }
    end
  end

  def test_entries_of_another_language_are_there
    refute_empty self.class.files - ["encrypted.ruby.json"]
  end

  def test_ruby_still_writes_entries_of_that_form
    committed = Vectors.rows("encrypted.ruby.json").map { |row| [row["entry"]].pack("H*") }
    fresh = Vectors.encrypted_rows.map { |row| [row["entry"]].pack("H*") }
    committed.zip(fresh) do |old, new|
      nonce = new[22, 2].unpack1("v") - 12

      assert_equal [new.bytesize, new[0, 4], new[8...nonce]],
                   [old.bytesize, old[0, 4], old[8...nonce]]
      refute_equal old[nonce, 12], new[nonce, 12]
    end
  end

  def test_malformed_entries_give_their_error
    Vectors.rows("encrypted_malformed.json").each do |row|
      error = assert_raises(Polycache::Error, row["name"]) do
        entry = [row["entry"]].pack("H*")
        Polycache::Native.decode_entry(entry, Vectors.keys(row), Vectors.full_key(row), nil)
      end

      assert_equal row["error"], error.code, row["name"]
    end
  end

  def test_no_value_lies_in_the_directory
    Dir.mktmpdir do |path|
      Polycache::Cache.open(path: path, limit: "4MiB", encryption: KEYS) do |cache|
        cache.set("card", { "number" => "4111 1111 1111 1111" })

        assert_equal({ "number" => "4111 1111 1111 1111" }, cache.get("card"))
        files = Dir.glob("#{path}/**/*").select { |one| File.file?(one) }
        stored = files.map { |one| File.binread(one) }.join

        refute_includes stored, "4111"
        assert_includes stored, "card"
      end
    end
  end

  def test_nothing_shows_a_key
    Dir.mktmpdir do |path|
      Polycache::Cache.open(path: path, limit: "4MiB", encryption: KEYS) do |cache|
        held = cache.instance_variables.map { |name| cache.instance_variable_get(name) }

        refute_match(/123456789/, "#{cache.inspect} #{held.inspect}")
        assert_raises(TypeError) { Marshal.dump(cache) }
      end
      [SECRET.dup.force_encoding("UTF-8"), SECRET[1..], [SECRET], SECRET.to_sym].each do |key|
        error = assert_raises(Polycache::InvalidArgument) do
          Polycache::Cache.new(path: path, encryption: [{ id: 1, key: key }])
        end

        refute_match(/123456789/, error.message)
      end
    end
  end

  private

  def comparable(row) = row.except("entry").merge("value" => Tagged.form(Tagged.load(row["value"])))

  def assert_read(row)
    entry = [row["entry"]].pack("H*")
    found = Polycache::Native.decode_entry(entry, Vectors.keys(row), Vectors.full_key(row), nil)
    expected = row.slice(*FACTS).transform_keys(&:to_sym)
    expected[:value] = Tagged.form(Tagged.load(row["value"]))
    expected[:tags] = row["tags"].map { |tag, generation| [tag, Integer(generation)] }

    assert_equal expected, found.merge(value: Tagged.form(found[:value])), row["name"]
  end
end
