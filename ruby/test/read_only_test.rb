# frozen_string_literal: true

require "test_helper"

# A cache on a read-only mount, and the files' mode.
class ReadOnlyTest < Minitest::Test
  include Caches

  def test_hits_are_served_misses_loaded_and_writes_refused
    writer = open_cache
    read_only do |cache|
      writer.set("k", { "a" => 1 })
      100.times { assert_equal({ "a" => 1 }, cache.get("k")) }
      writer.set("k", "text")

      assert_equal "text", cache.get("k")
      assert_nil cache.get("other")
      loads = 0
      loaded = Array.new(2) { cache.get_or_set("other") { loads += 1 } }

      assert_equal [1, 2], loaded
      writes(cache).each { |write| assert_raises(Polycache::ReadOnly, &write) }

      assert_equal "text", cache.get("k")
    end
  end

  def test_the_mode_is_that_of_the_files_and_no_other_number_is_one
    path = File.join(@directory, "shared")
    [0o666, 660, -1, 1.5, "0o660", true].each do |mode|
      assert_raises(Polycache::InvalidArgument, mode.inspect) do
        Polycache::Cache.new(path: path, mode: mode)
      end
    end
    refute_path_exists path

    { 0o660 => 0o660, nil => 0o660, 0o600 => 0o600 }.each do |mode, bits|
      Polycache::Cache.open(path: path, limit: "4MiB", mode: mode) { |cache| cache.set("k", 1) }

      assert_equal bits, File.stat(File.join(path, "v2/index")).mode & 0o777
    end
    assert_raises(Polycache::InvalidArgument) { Polycache::Cache.new(mode: 0o660) }
  end

  private

  def writes(cache)
    [
      -> { cache.set("k", 1) }, -> { cache.delete("k") }, -> { cache.clear },
      -> { cache.take("k") }, -> { cache.add("new", 1) }, -> { cache.increment("number") },
      -> { cache.lease("k").acquire }
    ]
  end

  # The directory's cache by another path, which may only be read.
  def read_only(&block)
    Dir.mktmpdir do |at|
      mounted = system("mount", "--bind", File.join(@directory, "cache"), at, err: File::NULL)
      skip "a read-only mount needs root" unless mounted
      begin
        assert system("mount", "-o", "remount,ro,bind", at)
        [nil, {}].each { |memory| Polycache::Cache.open(path: at, memory: memory, &block) }
      ensure
        system("umount", "-l", at)
      end
    end
  end
end
