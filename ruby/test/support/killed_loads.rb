# frozen_string_literal: true

# Callers that are killed at a step of their load: wherever a method returns, for there CRuby asks
# whether the thread was killed, beside where it waits.
module KilledLoads
  RETURNS = %i[return c_return b_return].freeze
  PATIENCE = 20

  # How a load of the key "k" is begun.
  WAYS = {
    "get_or_set" => ->(cache, &load) { cache.get_or_set("k", &load) },
    "get_or_set_many" => lambda do |cache, &load|
      cache.get_or_set_many(%w[other k]) { |keys| keys.to_h { |key| [key, load.call] } }
    end
  }.freeze

  # Kills a caller at each step, with another caller that joins at that step, or that joined while
  # the block ran. The block gives a cache that has not the key.
  #
  # @param count_loads [#call] is given the cache
  # @param fewest [Integer] steps that a load has at least
  def assert_nobody_waits_for_who_is_killed(count_loads, fewest)
    WAYS.to_a.product([false, true]).each do |(name, way), early|
      steps = (1..).take_while do |step|
        cache = yield
        killed, joiner = load_and_be_killed(cache, way, step, early)
        assert joiner.nil? || joiner.join(PATIENCE), "#{name}, step #{step}: #{joiner&.status}"
        assert_includes ["first", "second", nil], joiner&.value
        assert_equal 0, count_loads.call(cache), "#{name}, step #{step}"
        killed
      end

      assert_operator steps.size, :>, fewest, name
    end
  end

  # @return [Array(Boolean, Thread)] whether the load has so many steps, and the caller that joined
  def load_and_be_killed(cache, way, step, early)
    joiner = loader = trace = nil
    left = step
    join = lambda do
      joiner ||= Thread.new { cache.fetch("k") { "second" } }
      Thread.pass until joiner.stop?
      "first"
    end
    kill = lambda do |_|
      next unless loader.equal?(Thread.current) && (left -= 1).zero?

      join.call unless joiner
      # From another thread, so that what holds interrupts off does. While it waits, it is killed.
      Thread.new { loader.kill }.join
    end
    loader = Thread.new do
      Thread.stop
      trace.enable
      way.call(cache) { early ? join.call : "first" }
    ensure
      trace.disable
    end
    trace = TracePoint.new(*RETURNS, &kill)
    Thread.pass until loader.stop?
    loader.run
    loader.join
    [left <= 0, joiner]
  end
end
