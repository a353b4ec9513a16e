# frozen_string_literal: true

require "test_helper"

# spec/vectors: what every language reads alike.
class VectorsTest < Minitest::Test
  FACTS = %w[serializer compressor created expires fresh_until].freeze

  def self.files = Dir.children(Vectors::FOLDER).grep(/\Aentries\./).sort

  files.each do |file|
    define_method("test_#{file} is read") do
      Vectors.rows(file).each do |row|
        found = Polycache::Native.decode_entry([row["entry"]].pack("H*"), nil, "", nil)
        expected = row.slice(*FACTS).transform_keys(&:to_sym)
        expected[:value] = Tagged.form(Tagged.load(row["value"]))
        expected[:tags] = row["tags"].map { |tag, generation| [tag, Integer(generation)] }

        assert_equal expected, found.merge(value: Tagged.form(found[:value])), row["name"]
      end
    end
  end

  def test_entries_of_another_language_are_there
    refute_empty self.class.files - ["entries.ruby.json"]
  end

  def test_what_ruby_writes_is_committed
    assert File.read(Vectors::OWN) == Vectors.own_text,
           "entries.ruby.json is stale: ruby -Iruby/lib ruby/test/write_vectors.rb"
  end

  def test_refused_values_name_their_culprit
    Vectors.rows("refused.json").each do |row|
      error = assert_raises(Polycache::UnsupportedValue, row["name"]) do
        Vectors.line("", row["value"], serializer: row["serializer"])
      end

      assert_equal row["path"], error.path, row["name"]
    end
  end

  def test_malformed_entries_give_their_error
    Vectors.rows("malformed.json").each do |row|
      error = assert_raises(Polycache::Error, row["name"]) do
        Polycache::Native.decode_entry([row["entry"]].pack("H*"), nil, "", nil)
      end

      assert_equal row["error"], error.code, row["name"]
    end
  end
end
