# frozen_string_literal: true

require "test_helper"
require "open3"

# What a value may weigh: spec/vectors/weights.json, and what a cache does with it.
class WeightsTest < Minitest::Test
  include Caches

  ROWS = Vectors.rows("weights.json")
  DICTIONARIES = Vectors.rows("dictionaries.json").to_h do |row|
    [row["name"], [row["dictionary"]].pack("H*")]
  end
  # Bytes of a process that reads a hostile row. Without the limit on weights it has 4 GB.
  MOST_MEMORY = 512 * (2**20)
  LIB = File.expand_path("../lib", __dir__)

  READER = <<~RUBY
    require "polycache"
    begin
      Polycache::Native.decode_entry([$stdin.read].pack("H*"), nil, "", nil)
    rescue Polycache::Error => e
      puts e.code
    end
    puts Integer(File.read("/proc/self/status")[/VmHWM:\\s+(\\d+)/, 1]) * 1024
  RUBY

  ROWS.each do |row|
    define_method("test_#{row["name"]}") do
      next assert_read_and_written(row) unless row.key?("error")

      error = assert_raises(Polycache::Error) { read(row) }

      assert_equal row["error"], error.code
    end
  end

  ROWS.select { |row| row["name"].start_with?("hostile") }.each do |row|
    define_method("test_little memory for #{row["name"]}") do
      said, status = Open3.capture2(
        RbConfig.ruby, "-I#{LIB}", "-e", READER, stdin_data: row["entry"]
      )
      code, peak = said.split

      assert_predicate status, :success?
      assert_equal row["error"], code
      assert_operator Integer(peak), :<, MOST_MEMORY
    end
  end

  def test_a_cache_refuses_what_is_too_heavy
    lists = 262_143 # 4 MiB with the list around them
    [{}, { compressor: "zstd" }, { serializer: "json" }].each do |options|
      path = File.join(@directory, options.to_s)
      cache = open_cache(path: path, limit: "1GiB", **options)
      cautious = open_cache(path: path, limit: "1GiB", max_value: "2MiB", **options)
      cautious.set("k", [[]] * lists)

      assert_equal [[]] * lists, cautious.get("k")
      cache.set("k", [[]] * (lists + 1))
      %i[get peek take].each do |look|
        assert_raises(Polycache::ValueTooLarge) { cautious.public_send(look, "k") }
      end
      assert_equal [[]] * (lists + 1), cache.get("k")
      assert_raises(Polycache::ValueTooLarge) { cautious.set("k", [[]] * (lists + 1)) }
      refute cache.has?("k")
    end
  end

  private

  def read(row)
    dictionaries = row["dictionaries"]&.map { |name| DICTIONARIES.fetch(name) }
    full_key = [row["full_key"].to_s].pack("H*")
    entry = [row["entry"]].pack("H*")
    keys = Vectors.keys(row)
    read = [entry, keys, full_key, dictionaries, row["max_value"]]
    Polycache::Native.decode_entry(*read)[:value]
  end

  def assert_read_and_written(row)
    value = read(row)
    %w[none zstd:1].each do |compressor|
      header = {
        serializer: row["serializer"], compressor: compressor, created: 0, expires: 0,
        fresh_until: nil, tags: [], encryption: nil, full_key: "", max_value: row["max_value"]
      }

      refute_empty Polycache::Native.encode_entry(value, header)
      assert_raises(Polycache::ValueTooLarge) do
        Polycache::Native.encode_entry(value + [nil], header)
      end
    end
  end
end
