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
    # Leases last, so that a test whose lease was not freed does not pass by waiting.
    defaults = { path: File.join(@directory, "cache"), limit: "4MiB", lease_timeout: "1h" }
    cache = Polycache::Cache.new(**defaults, **options)
    @opened << cache
    cache
  end
end
