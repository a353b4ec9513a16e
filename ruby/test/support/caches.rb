# frozen_string_literal: true

# Opens caches on a directory of the test's own, and closes them.
module Caches
  def setup
    @directory = Dir.mktmpdir("polycache-test")
    @opened = []
  end

  def teardown
    @opened.each(&:close)
    FileUtils.rm_rf(@directory)
  end

  def open_cache(**options)
    cache = Polycache::Cache.new(path: File.join(@directory, "cache"), limit: "4MiB", **options)
    @opened << cache
    cache
  end
end
