# frozen_string_literal: true

require "open3"
require_relative "test_helper"
require_relative "support/opentelemetry"
require "polycache/opentelemetry"

# Metrics for OpenTelemetry: spec/metrics.md and spec/metrics.json. In `make test` the section
# ruby-opentelemetry runs this with the real SDK, and the section ruby with a stand-in for it.
class OpenTelemetryTest < Minitest::Test
  CONTRACT = JSON.parse(File.read(File.expand_path("../../spec/metrics.json", __dir__)))
  LIB = File.expand_path("../lib", __dir__)
  KINDS = {
    "counter" => :counter, "updowncounter" => :up_down_counter, "histogram" => :histogram
  }.freeze
  PLANNED = Class.new(StandardError)

  def setup
    @reader = OpenTelemetry::SDK::Metrics::Export::InMemoryMetricPullExporter.new
    provider = OpenTelemetry::SDK::Metrics::MeterProvider.new
    provider.add_metric_reader(@reader)
    @meter = provider.meter("polycache")
  end

  # A cache over a directory, one without, and one over a directory with a memory tier.
  def each_kind(**options)
    Dir.mktmpdir do |path|
      [{ path: "#{path}/host" }, {}, { path: "#{path}/both", memory: true }].each do |kind|
        Polycache::Cache.open(**kind, **options) do |cache|
          yield cache, kind.key?(:path) ? "host" : "memory"
        end
        setup
      end
    end
  end

  def observe(cache, **options)
    Polycache::OpenTelemetry.observe(cache, meter: @meter, **options)
  end

  def metrics
    @reader.reset
    @reader.pull
    @reader.metric_snapshots
  end

  # Values of counters, and how often histograms were recorded, by name and attributes, without
  # "polycache.".
  def values
    metrics.each_with_object({}) do |metric, values|
      metric.data_points.each do |point|
        words = point.attributes.map { |word, text| "#{word.delete_prefix("polycache.")}=#{text}" }
        cell = "#{metric.name.delete_prefix("polycache.")}{#{words.sort.join(",")}}"
        values[cell] = point.respond_to?(:value) ? point.value : point.count
      end
    end
  end

  def loads(values, name = "default")
    %w[loaded failed abandoned].map do |outcome|
      values["load.duration{cache.name=#{name},load.outcome=#{outcome}}"]
    end
  end

  # Another thread loads the key until the block is left.
  def while_loading(cache, key)
    begun = Queue.new
    enough = Queue.new
    loading = Thread.new do
      cache.get_or_set(key) do
        begun << true
        enough.pop
        1
      end
    end
    begun.pop
    yield enough
  ensure
    enough << true
    loading.join
  end

  def test_instruments_and_attributes_are_those_of_the_contract
    each_kind(wait_timeout: "5ms") do |cache|
      observe(cache)
      objects = Polycache::MemoryCache.new
      observe(objects, name: "objects")
      cache.set("a", 1)
      while_loading(cache, "b") do
        assert_raises(Polycache::WaitTimeout) { cache.get_or_set("b") { 2 } }
      end
      found = metrics.to_h { |metric| [metric.name, metric] }
      CONTRACT.fetch("instruments").each { |wanted| check(wanted, found.delete(wanted["name"])) }
      assert_empty found
    end
  end

  def check(wanted, metric)
    assert_equal wanted.values_at("unit", "description"), [metric.unit, metric.description]
    assert_equal KINDS.fetch(wanted["kind"]), metric.instrument_kind
    metric.data_points.each do |point|
      assert_equal wanted["attributes"].sort, point.attributes.keys.sort
      point.attributes.each do |word, text|
        allowed = CONTRACT.fetch("attributes").fetch(word)
        assert_includes allowed || [text], text
      end
    end
  end

  def test_a_memory_cache_has_what_the_contract_says
    now = 0
    cache = Polycache::MemoryCache.new(max_entries: 1, ttl: "1s", clock: -> { now })
    observe(cache, name: "small")
    cache.set("a", 1)
    cache.get_or_set("b") { 2 }
    cache.get("b")
    now = 5_000
    cache.purge_expired
    found = values
    CONTRACT.fetch("instruments").each do |wanted|
      next if wanted["name"] == "polycache.load.wait.duration" # Nobody waited.

      has = wanted.fetch("memory_cache", ["ruby"]).include?("ruby")
      named = wanted["name"].delete_prefix("polycache.")
      assert_equal has, found.keys.any? { |cell| cell.start_with?("#{named}{") }, named
    end
    assert_equal 1, found["evictions{cache.name=small,eviction.cause=room,tier=memory}"]
    assert_equal 1, found["expirations{cache.name=small,tier=memory}"]
    assert_equal 1, found["reads{cache.name=small,read.outcome=hit,tier=memory}"]
    assert_equal 0, found["entries{cache.name=small,tier=memory}"]
    assert_equal [1, nil, nil], loads(found, "small")
  end

  def test_counts_are_those_of_stats
    each_kind(namespace: %w[shop eu]) do |cache, tier|
      observe(cache)
      nested = cache.namespace("nested")
      nested.set("a", 1)
      nested.set("b", 2)
      3.times { nested.get("a") }
      nested.get("absent")
      2.times { assert_counts(cache, tier, values) }
      nested.delete("b")
      nested.get("absent")
      assert_counts(cache, tier, values)
    end
  end

  def assert_counts(cache, tier, values)
    stats = cache.stats
    of = "cache.name=shop::eu"
    by_memory = tier == "host" ? stats.fetch(:memory_hits) : stats.fetch(:hits)
    assert_equal by_memory, values["reads{#{of},read.outcome=hit,tier=memory}"]
    if tier == "host"
      assert_equal stats[:hits] - by_memory, values["reads{#{of},read.outcome=hit,tier=host}"]
    end
    assert_equal stats[:misses], values["reads{#{of},read.outcome=miss,tier=#{tier}}"]
    { writes: :writes, deletes: :deletes, entries: :entries, usage: :bytes, limit: :limit }
      .each { |name, stat| assert_equal stats[stat], values["#{name}{#{of},tier=#{tier}}"], name }
  end

  def test_loads_are_told_by_their_outcome
    each_kind do |cache|
      observe(cache)
      2.times { cache.get_or_set("a") { 1 } }
      cache.get_or_set_many(%w[a b c]) { |keys| keys.to_h { |key| [key, 1] } }
      cache.namespace("nested").memoize(name: "f") { 1 }.call
      assert_raises(PLANNED) { cache.get_or_set("d") { raise PLANNED } }
      assert_raises(PLANNED) { cache.get_or_set_many(%w[d]) { raise PLANNED } }
      catch(:enough) { cache.get_or_set("e") { throw :enough } }
      cache.get_or_set("f") { break }
      assert_raises(Interrupt) { cache.get_or_set("g") { raise Interrupt } }
      found = values
      assert_equal [3, 2, 3], loads(found)
      assert_nil found["load.wait.duration{cache.name=default}"]
      # They can be loaded at once: nothing was left behind.
      anew = %w[d e f g].map { |key| cache.get_or_set(key) { 5 } }
      assert_equal [5] * 4, anew
    end
  end

  def test_a_load_whose_thread_is_killed_is_abandoned
    each_kind do |cache|
      observe(cache)
      begun = Queue.new
      thread = Thread.new do
        cache.get_or_set("a") do
          begun << true
          sleep
        end
      end
      begun.pop
      thread.kill.join
      assert_equal [nil, nil, 1], loads(values)
      assert_equal 2, cache.get_or_set("a") { 2 }
    end
  end

  def test_waits_that_bring_a_value_are_told
    each_kind do |cache|
      observe(cache)
      [-> { cache.get_or_set("a") { 2 } },
       -> { cache.get_or_set_many(%w[a]) { {} }.fetch("a") }].each_with_index do |ask, before|
        cache.delete("a")
        follower = nil
        while_loading(cache, "a") do
          follower = Thread.new(&ask)
          Thread.pass until follower.stop?
        end
        assert_equal 1, follower.value
        assert_equal before + 1, values["load.wait.duration{cache.name=default}"]
      end
    end
  end

  def test_waits_that_bring_nothing_are_told
    each_kind(wait_timeout: "5ms") do |cache|
      observe(cache)
      while_loading(cache, "a") do
        assert_raises(Polycache::WaitTimeout) { cache.get_or_set("a") { 2 } }
        assert_raises(Polycache::WaitTimeout) { cache.get_or_set_many(%w[a]) { {} } }
      end
      found = values
      assert_equal 2, found["load.wait.duration{cache.name=default}"]
      assert_equal 2, found["load.wait.timeouts{cache.name=default}"]
    end
  end

  def test_waits_for_other_processes_are_told
    Dir.mktmpdir do |path|
      # To the lease another handle is another process.
      other = Polycache::Cache.new(path: path)
      cache = Polycache::Cache.new(path: path, wait_timeout: "5ms")
      observe(cache)
      while_loading(other, "a") do
        assert_raises(Polycache::WaitTimeout) { cache.get_or_set("a") { 2 } }
      end
      assert_equal 1, values["load.wait.duration{cache.name=default}"]
    end
  end

  def test_the_wait_is_over_when_the_caller_loads_itself
    each_kind(lease_timeout: "63ms") do |cache|
      observe(cache)
      while_loading(cache, "a") do
        assert_equal(2, cache.get_or_set("a") { 2 })
      end
      found = values
      assert_equal 1, found["load.wait.duration{cache.name=default}"]
      assert_equal [2, nil, nil], loads(found)
    end
  end

  def test_names_tell_caches_apart
    each_kind(name: :first) do |cache, tier|
      other = Polycache::Cache.new
      observe(cache)
      observe(other, name: "second")
      cache.namespace("nested").get("absent")
      found = values
      assert_equal 1, found["reads{cache.name=first,read.outcome=miss,tier=#{tier}}"]
      assert_equal 0, found["reads{cache.name=second,read.outcome=miss,tier=memory}"]
    end
  end

  def test_closing_ends_the_metrics_and_not_the_cache
    each_kind do |cache, tier|
      observed = observe(cache)
      other = observe(cache, name: "other")
      cache.get_or_set("a") { 1 }
      assert_equal 1, values["entries{cache.name=default,tier=#{tier}}"]
      2.times { observed.close }
      cache.get_or_set("b") { 1 }
      found = values
      # What was counted stays, and nothing is held any more.
      assert_equal 1, found["writes{cache.name=default,tier=#{tier}}"]
      assert_equal 0, found["entries{cache.name=default,tier=#{tier}}"]
      assert_equal [1, nil, nil], loads(found)
      assert_equal [2, nil, nil], loads(found, "other")
      other.close
      cache.get_or_set("c") { 1 }
      assert_equal [2, nil, nil], loads(values, "other")
    end
  end

  def test_a_closed_cache_holds_nothing_and_raises_nothing
    each_kind do |cache, tier|
      observe(cache)
      cache.set("a", 1)
      values
      cache.close
      errors = []
      found = OpenTelemetry.stub(:handle_error, ->(**error) { errors << error }) { values }
      assert_empty errors
      assert_equal 1, found["writes{cache.name=default,tier=#{tier}}"]
      assert_equal 0, found["entries{cache.name=default,tier=#{tier}}"]
      assert_raises(Polycache::Closed) { observe(cache) }
    end
  end

  def test_two_readers_are_told_the_same
    other = OpenTelemetry::SDK::Metrics::Export::InMemoryMetricPullExporter.new
    @meter.instance_variable_get(:@meter_provider).add_metric_reader(other)
    cache = Polycache::Cache.new
    observe(cache)
    cache.set("a", 1)
    2.times { other.pull }
    cache.set("b", 1)
    assert_equal 2, values["writes{cache.name=default,tier=memory}"]
    other.reset
    other.pull
    writes = other.metric_snapshots.find { |metric| metric.name == "polycache.writes" }
    assert_equal [2], writes.data_points.map(&:value)
  end

  def test_a_forked_child_goes_on
    each_kind do |cache, tier|
      observe(cache)
      cache.set("a", 1)
      values
      child = fork do
        cache.get_or_set("b") { 1 }
        found = values
        right = found["writes{cache.name=default,tier=#{tier}}"].to_i >= 1 &&
                loads(found) == [1, nil, nil]
        exit!(right ? 0 : 1)
      end
      assert_predicate Process.wait2(child).last, :success?
    end
  end

  def test_what_is_no_cache_is_refused
    error = assert_raises(Polycache::InvalidArgument) { observe({}) }
    assert_equal "observe takes a cache, not Hash", error.message
  end

  def test_metrics_hold_no_cache
    Dir.mktmpdir do |path|
      program = <<~RUBY
        #{OpenTelemetrySDK::PRELUDE}
        require "polycache"
        require "polycache/opentelemetry"
        reader = OpenTelemetry::SDK::Metrics::Export::InMemoryMetricPullExporter.new
        provider = OpenTelemetry::SDK::Metrics::MeterProvider.new
        provider.add_metric_reader(reader)
        meter = provider.meter("polycache")
        use = lambda do |path, number|
          [Polycache::Cache.new(path: path), Polycache::MemoryCache.new].each do |cache|
            cache.set("a", 1)
            Polycache::OpenTelemetry.observe(cache, meter: meter, name: number.to_s)
          end
          reader.pull
          nil
        end
        # On a stack of its own, which the garbage collector does not look at any more.
        Thread.new { 20.times { |number| use.call(ARGV.fetch(0), number) } }.join
        nested = Thread.new do
          cache = Polycache::Cache.new
          Polycache::OpenTelemetry.observe(cache, meter: meter, name: "stays")
          cache.namespace("nested")
        end.value
        sources = Polycache::OpenTelemetry::Instruments.of(meter).instance_variable_get(:@sources)
        10.times { GC.start; reader.pull }
        left = Polycache::OpenTelemetry::Instruments.of(meter).instance_variable_get(:@sources)
        nested.set("a", 1)
        print sources.size, " ", left.size < 8, " ", left.last.instance_variable_get(:@name)
      RUBY
      out, status = Open3.capture2e(RbConfig.ruby, "-I#{LIB}", "-e", program, "#{path}/cache")
      assert_predicate status, :success?, out
      assert_match(/\A\d+ true stays\z/, out)
    end
  end
end
