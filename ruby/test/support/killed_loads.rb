# frozen_string_literal: true

require "support/children"

# Callers that are killed at a step of their load: wherever a method returns, for there CRuby asks
# whether the thread was killed, beside where it waits.
module KilledLoads
  include Children

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
  # All this happens in a child. A process that has ever traced C functions may stop a thread in the
  # middle of `counts[index] += 1` (CRuby 3.1), so other tests could no longer count exactly.
  #
  # @param count_loads [#call] is given the cache
  # @param fewest [Integer] steps that a load has at least
  def assert_nobody_waits_for_who_is_killed(count_loads, fewest, &cache)
    said = said_by(*child do |say|
      WAYS.to_a.product([false, true]).each do |(name, way), early|
        say.call("#{name}: #{kill_at_each_step(name, way, early, count_loads, &cache)}")
      end
    end)
    counts = said.lines.map { |line| line.split(": ").last.to_i }

    assert_equal WAYS.size * 2, counts.size, said
    assert_operator counts.min, :>, fewest, said
  end

  # @return [Integer] how many steps the load has
  def kill_at_each_step(name, way, early, count_loads)
    (1..).take_while do |step|
      cache = yield
      killed, joiner = load_and_be_killed(cache, way, step, early)
      assert joiner.nil? || joiner.join(PATIENCE), "#{name}, step #{step}: #{joiner&.status}"
      assert_includes ["first", "second", nil], joiner&.value
      assert_equal 0, count_loads.call(cache), "#{name}, step #{step}"
      killed
    end.size
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
