# frozen_string_literal: true

require "fileutils"
require "json"
require "tmpdir"

require "support/minitest_alone"

# The library as it is where the native extension was not built.
module PlainLibrary
  def self.in_a_folder
    folder = Dir.mktmpdir
    FileUtils.cp_r("#{File.expand_path("../../lib", __dir__)}/.", folder)
    FileUtils.rm(Dir["#{folder}/**/*.{so,bundle}"])
    yield folder
  ensure
    FileUtils.remove_entry(folder)
  end
end

# POLYCACHE_WITHOUT_EXTENSION=1 runs these tests in plain Ruby.
WITHOUT_EXTENSION = ENV.key?("POLYCACHE_WITHOUT_EXTENSION")
if WITHOUT_EXTENSION
  PlainLibrary.in_a_folder do |folder|
    $LOAD_PATH.unshift(folder)
    require "polycache/memory"
    require "polycache"
    $LOAD_PATH.shift
  end
else
  require "polycache/memory"
  require "polycache"
end

require "set"
require "timeout"

require "support/fiber_scheduler"
require "support/manual_clock"

# What has to hold between two operations, whatever was done.
module Structure
  def self.check(cache)
    core = cache.instance_variable_get(:@entries).core
    store = core.store
    indexed = []
    core.root.each_nested { |nested| indexed.concat(nested.index.to_a) }
    queued = store.policy.queues.flat_map { |queue| linked(queue) }
    raise "a key leads to another's entry" unless indexed.all? { |key, entry| entry.key == key }

    same(indexed.map(&:last), queued, "the index and the queues")
    timed = store.instance_variable_get(:@timed).keys
    same(timed, queued.select(&:times), "those whose time may end")
    raise "size" unless store.size == queued.size
    raise "bytes" unless store.bytes == queued.sum(&:bytes)
    raise "over a bound" if store.size > store.max_entries || store.bytes > store.max_bytes
  end

  def self.linked(queue)
    entries = []
    older = nil
    queue.each do |entry|
      raise "a link" unless entry.older.equal?(older) && entry.queue.equal?(queue)

      entries << older = entry
    end
    raise "a queue's size" unless entries.size == queue.size

    entries
  end

  def self.same(some, others, what)
    some = Set.new.compare_by_identity.merge(some)
    raise "#{what} differ" unless some == Set.new.compare_by_identity.merge(others)
  end

  private_class_method :linked, :same
end

# Caches of a test, whose structure is looked at when it ends.
module MemoryCaches
  def setup
    @clock = ManualClock.new
    @caches = []
  end

  def teardown
    @caches.each { |cache| Structure.check(cache) }
  end

  def cache(**options)
    Polycache::MemoryCache.new(clock: @clock, **options).tap { |cache| @caches << cache }
  end
end
