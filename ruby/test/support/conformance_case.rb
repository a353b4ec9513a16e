# frozen_string_literal: true

require_relative "../redis_namespace/support/servers"

# One case of spec/conformance, run (the format is in its README).
class ConformanceCase
  # What Ruby can with each set of tiers, and the options that make it.
  TIERS = {
    "memory and host" => { host: true, options: { memory: true } },
    "host" => { host: true, options: {} },
    "memory and host, lru, freeze" => {
      host: true, options: { memory: { policy: "lru", isolation: "freeze" } }
    },
    "memory" => { host: false, options: {} },
    "server alone" => { host: false, options: { max_staleness: 0 }, remote: true },
    "memory and server" => { host: false, options: { memory: true }, remote: true },
    "host and server" => { host: true, options: {}, remote: true },
    "memory, host and server" => { host: true, options: { memory: true }, remote: true }
  }.freeze
  CAPABILITIES = %w[atomic dynamic invalid_text own_key].freeze
  FIELDS = %w[name options requires steps].freeze
  # Of every step; and of each operation: its arguments.
  COMMON = %w[op on error path result].freeze
  TIME = %w[ttl expires_at].freeze
  ARGUMENTS = {
    "get" => %w[key], "peek" => %w[key], "take" => %w[key], "entry" => %w[key],
    "set" => %w[key value] + TIME, "delete" => %w[key], "has" => %w[key],
    "ttl" => %w[key], "touch" => %w[key] + TIME, "get_many" => %w[keys],
    "set_many" => %w[entries] + TIME, "delete_many" => %w[keys], "delete_prefix" => %w[prefix],
    "add" => %w[key value] + TIME, "replace" => %w[key value] + TIME, "version" => %w[key as],
    "compare_and_set" => %w[key version value] + TIME,
    "increment" => %w[key by initial] + TIME, "decrement" => %w[key by initial] + TIME,
    "update" => %w[key returns sees during] + TIME,
    "get_or_set" => %w[key loads during] + TIME,
    "get_or_set_many" => %w[keys asked loads during] + TIME, "lease" => %w[key as],
    "acquire" => %w[lease wait], "release" => %w[lease], "locked" => %w[lease],
    "keys" => %w[prefix],
    "clear" => [], "flush" => [], "close" => [], "stats" => %w[field], "check" => [],
    "namespace" => %w[part as], "open" => %w[as options directory], "advance" => %w[ms]
  }.freeze
  MISS = { "miss" => true }.freeze
  private_constant(*constants(false) - [:TIERS])

  @cases = 0

  # A number for each case, whose keys on the server begin with it.
  def self.next_number = @cases += 1

  # What a loader of a case fails with.
  class LoaderError < StandardError
    def code = "loader_failed"
  end

  def initialize(test, directory, description, tiers)
    @test = test
    @directory = directory
    @description = description
    @tiers = TIERS.fetch(tiers)
    @clock = ManualClock.new
    @handles = {}
    @leases = {}
    @versions = {}
  end

  def run
    know(@description, FIELDS)
    missing = (@description["requires"] || []) - capabilities
    @test.skip("without #{missing.join(", ")}") unless missing.empty?
    @test.skip("no redis-server here") if @tiers[:remote] && Servers::PROGRAMS.empty?
    step("op" => "open", "as" => "cache", "options" => @description["options"] || {})
    steps(@description["steps"])
  ensure
    @leases.each_value(&:release)
    @handles.each_value(&:close)
  end

  private

  def capabilities
    # What a server may hold is its own affair.
    CAPABILITIES + (@tiers[:host] ? ["host"] : []) + (@tiers[:remote] ? [] : ["limited"])
  end

  def know(object, fields)
    unknown = object.keys - fields
    raise "not in the format: #{unknown.join(", ")}" unless unknown.empty?
  end

  def steps(steps) = steps.each { |each| step(each) }

  def step(step)
    know(step, COMMON + ARGUMENTS.fetch(step["op"]))
    return expect_error(step) if step["error"]

    result = perform(step)
    return unless step.key?("result")

    expected, found = expected_and_found(step, result)
    # In lists, because minitest wants nil asserted by another method.
    @test.assert_equal [expected], [found], "at #{step}"
  end

  def expect_error(step)
    error = @test.assert_raises(Polycache::Error, LoaderError, "at #{step}") { perform(step) }
    @test.assert_equal step["error"], error.code, "at #{step}: #{error.message}"
    @test.assert_equal step["path"], error.path, "at #{step}" if step["path"]
  end

  def perform(step)
    operation = step["op"]
    return advance(step) if operation == "advance"
    return open_handle(step) if operation == "open"

    send("do_#{operation}", @handles.fetch(step["on"] || "cache"), step)
  end

  # Results in one form; those without an order, sorted.
  def expected_and_found(step, result)
    expected = step["result"]
    case step["op"]
    when "get_or_set", "increment", "decrement" then [canonical(expected), result]
    when "get", "peek", "take", "update"
      [expected == MISS ? MISS : canonical(expected), result]
    when "entry" then [expected == MISS ? MISS : expected_entry(expected), result]
    when "get_many", "get_or_set_many"
      [sorted(expected.map { |pair| [key_form(pair[0]), canonical(pair[1])] }), sorted(result)]
    when "keys" then [sorted(expected.map { |key| key_form(key) }), sorted(result)]
    else [expected, result]
    end
  end

  def expected_entry(fields) = fields.merge("value" => canonical(fields.fetch("value")))

  def canonical(tagged) = Tagged.form(Tagged.load(tagged))
  def key_form(tagged) = Tagged.load(tagged).b
  def sorted(list) = list.sort_by(&:to_s)

  def advance(step)
    @clock.advance(step["ms"])
    nil
  end

  def open_handle(step)
    directory = File.join(@directory, step["directory"] || "main")
    # In memory alone every handle is a cache of its own.
    place = @tiers[:host] ? { "path" => directory, "limit" => "4MiB" } : {}
    options = place.merge(server_for(step), step["options"])
    options = options.to_h { |name, value| [name.to_sym, option(name, value)] }
    @handles[step["as"]] = Polycache::Cache.new(clock: @clock, **@tiers[:options], **options)
    nil
  end

  # Of a server: each directory of each case has keys of its own there.
  def server_for(step)
    return {} unless @tiers[:remote]

    @number ||= ConformanceCase.next_number
    { "remote" => "redis://127.0.0.1:#{Servers.port}", "timeout" => "20s",
      "prefix" => "#{@number}-#{step["directory"] || "main"}" }
  end

  def option(name, value)
    case name
    when "ttl", "time_to_idle", "lease_timeout", "wait_timeout" then duration(value)
    when "encryption", "dictionaries" then keys(value)
    else value
    end
  end

  # The options encryption and dictionaries: the bytes in them are tagged.
  def keys(given)
    case given
    when Array then given.map { |one| keys(one) }
    when ->(one) { one.is_a?(Hash) && one.keys == ["bytes"] } then Tagged.load(given)
    when Hash then given.to_h { |name, one| [name.to_sym, keys(one)] }
    else given
    end
  end

  # Seconds, or text as it is.
  def duration(value)
    return value unless value.is_a?(Hash)

    ms = value.fetch("ms")
    return Tagged.load_float(ms) if ms.is_a?(String)

    Rational(ms.is_a?(Float) ? ms.to_r : ms, 1000)
  end

  # The options of a write: when it expires.
  def time_of(step)
    given = {}
    given[:ttl] = duration(step["ttl"]) if step.key?("ttl")
    given[:expires_at] = time(step["expires_at"]) if step.key?("expires_at")
    given
  end

  def time(milliseconds) = Time.at(Rational(milliseconds.to_r, 1000), in: "UTC")

  def do_get(cache, step) = value_by(cache, :get, step)
  def do_peek(cache, step) = value_by(cache, :peek, step)
  def do_take(cache, step) = value_by(cache, :take, step)

  def value_by(cache, method, step)
    form_or_miss(cache.send(method, Tagged.load(step["key"]), Polycache::Cache::MISSING))
  end

  def form_or_miss(value) = Polycache::Cache::MISSING.equal?(value) ? MISS : Tagged.form(value)

  def do_entry(cache, step)
    entry = cache.entry(Tagged.load(step["key"])) or return MISS
    entry.to_h.except(:version).transform_keys(&:name)
         .merge("value" => Tagged.form(entry.value), "ttl" => ttl_form(entry.ttl))
  end

  def do_set(cache, step)
    cache.set(Tagged.load(step["key"]), Tagged.load(step["value"]), **time_of(step))
  end

  def do_delete(cache, step) = cache.delete(Tagged.load(step["key"]))
  def do_has(cache, step) = cache.has?(Tagged.load(step["key"]))

  def do_ttl(cache, step)
    left = cache.ttl(Tagged.load(step["key"]))
    left.nil? ? MISS : ttl_form(left)
  end

  def ttl_form(left) = left.infinite? ? "forever" : (left * 1000).round

  def do_touch(cache, step) = cache.touch(Tagged.load(step["key"]), **time_of(step))

  def do_add(cache, step)
    cache.add(Tagged.load(step["key"]), Tagged.load(step["value"]), **time_of(step))
  end

  def do_replace(cache, step)
    cache.replace(Tagged.load(step["key"]), Tagged.load(step["value"]), **time_of(step))
  end

  def do_version(cache, step)
    entry = cache.entry(Tagged.load(step["key"])) or return MISS
    @versions[step["as"]] = entry.version
    nil
  end

  def do_compare_and_set(cache, step)
    version = @versions.fetch(step["version"])
    cache.compare_and_set(Tagged.load(step["key"]), version, Tagged.load(step["value"]),
                          **time_of(step))
  end

  def do_increment(cache, step) = count_by(cache, :increment, step)
  def do_decrement(cache, step) = count_by(cache, :decrement, step)

  def count_by(cache, method, step)
    by = step.key?("by") ? [Tagged.load(step["by"])] : []
    initial = step.key?("initial") ? { initial: Tagged.load(step["initial"]) } : {}
    sum = cache.send(method, Tagged.load(step["key"]), *by, **initial, **time_of(step))
    Tagged.form(sum)
  end

  def do_update(cache, step)
    seen = []
    missing = Polycache::Cache::MISSING
    value = cache.update(Tagged.load(step["key"]), missing, **time_of(step)) do |found|
      seen << form_or_miss(found)
      steps(step["during"] || [])
      update_by(step["returns"])
    end
    sees = step["sees"]&.map { |tagged| tagged == MISS ? MISS : canonical(tagged) }
    @test.assert_equal sees, seen, "seen at #{step}" if sees
    form_or_miss(value)
  end

  def update_by(returns)
    case returns
    when { "delete" => true } then Polycache::Cache::DELETE
    when { "leave" => true } then Polycache::Cache::LEAVE
    when { "error" => true } then raise LoaderError
    else Tagged.load(returns)
    end
  end

  def do_get_many(cache, step)
    pairs_of(cache.get_many(several(step["keys"])))
  end

  def pairs_of(found) = found.map { |key, value| [key.b, Tagged.form(value)] }

  # A single key, where a list is wanted, is passed on as it is.
  def several(keys) = keys.is_a?(Array) ? keys.map { |key| Tagged.load(key) } : Tagged.load(keys)

  def do_set_many(cache, step)
    entries = step["entries"].to_h { |pair| pair.map { |tagged| Tagged.load(tagged) } }
    cache.set_many(entries, **time_of(step))
  end

  def do_delete_many(cache, step)
    cache.delete_many(several(step["keys"]))
  end

  def do_delete_prefix(cache, step) = cache.delete_prefix(Tagged.load(step["prefix"]))

  def do_get_or_set_many(cache, step)
    asked = []
    found = cache.get_or_set_many(several(step["keys"]), **time_of(step)) do |keys|
      asked << sorted(keys.map(&:b))
      steps(step["during"] || [])
      raise LoaderError if step["loads"] == { "error" => true }

      step["loads"].to_h { |pair| pair.map { |tagged| Tagged.load(tagged) } }
    end
    pairs_of(found)
  ensure
    expected = step.key?("loads") ? [sorted(step["asked"].map { |key| key_form(key) })] : []
    @test.assert_equal expected, asked, "asked for at #{step}"
  end

  def do_get_or_set(cache, step)
    loads = 0
    value = cache.get_or_set(Tagged.load(step["key"]), **time_of(step)) do
      loads += 1
      steps(step["during"] || [])
      raise LoaderError if step["loads"] == { "error" => true }

      Tagged.load(step["loads"])
    end
    Tagged.form(value) if step.key?("result")
  ensure
    @test.assert_equal step.key?("loads") ? 1 : 0, loads, "loads at #{step}"
  end

  def do_lease(cache, step)
    @leases[step["as"]] = cache.lease(Tagged.load(step["key"]))
    nil
  end

  def do_acquire(_cache, step)
    lease = @leases.fetch(step["lease"])
    step.key?("wait") ? lease.acquire(duration(step["wait"])) : lease.acquire
  end

  def do_release(_cache, step) = @leases.fetch(step["lease"]).release
  def do_locked(_cache, step) = @leases.fetch(step["lease"]).locked?

  def do_keys(cache, step)
    keys = step.key?("prefix") ? cache.keys(Tagged.load(step["prefix"])) : cache.keys
    keys.map do |key|
      # Text wherever it can be.
      text = key.b.force_encoding(Encoding::UTF_8).valid_encoding?
      @test.assert_equal text ? Encoding::UTF_8 : Encoding::BINARY, key.encoding
      key.b
    end
  end

  def do_clear(cache, _step) = cache.clear
  def do_flush(cache, _step) = cache.flush
  def do_close(cache, _step) = cache.close

  def do_stats(cache, step)
    stats = cache.stats
    # Of a cache on a server they are those of its copies on this machine.
    return step["result"] if @tiers[:remote] && %w[entries limit].include?(step["field"])

    stats.fetch(step["field"].to_sym)
  end

  def do_check(cache, _step) = cache.check[:damaged].size

  def do_namespace(cache, step)
    @handles[step["as"]] = cache.namespace(Tagged.load(step["part"]))
    nil
  end
end
