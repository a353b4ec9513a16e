# frozen_string_literal: true

require "memory/helper"

# Threads that are killed while they wait for a cache's lock.
class KilledThreadsTest < Minitest::Test
  ROUNDS = 40
  PATIENCE = 20

  # Whoever is killed in the queue for the lock must not keep the wake-up of the next one. A thread
  # that sleeps for ever keeps the process from exiting.
  def test_no_killed_thread_is_left_waiting
    cache = Polycache::MemoryCache.new(max_entries: 50)
    ROUNDS.times do |round|
      begun = Queue.new
      threads = Array.new(6) { |number| Thread.new { load_on(cache, number, begun) } }
      begun.pop
      threads.each(&:kill)
      threads.each { |thread| assert thread.join(PATIENCE), "round #{round}: #{thread.status}" }
    end
    cache.set("k", 1)

    assert_equal 1, cache.get("k")
  end

  # Nor in a load that is joined, nor who tells those who joined.
  def test_no_killed_thread_leaves_those_who_joined_waiting
    cache = Polycache::MemoryCache.new
    ROUNDS.times do |round|
      callers = Array.new(8) { |number| Thread.new { load_one(cache, number + round) } }
      Thread.pass
      callers.first(4).each(&:kill)
      callers.each { |thread| assert thread.join(PATIENCE), "round #{round}: #{thread.status}" }
      cache.delete("k")
    end

    assert_equal 0, cache.instance_variable_get(:@entries).count_loads
  end

  def test_who_is_killed_at_its_turn_wakes_the_next
    cache = Polycache::MemoryCache.new
    lock = cache.instance_variable_get(:@entries).instance_variable_get(:@core)
                .instance_variable_get(:@lock)
    ROUNDS.times do |round|
      threads = lock.synchronize { waiting_to_write(cache, round) }
      threads.first.kill
      threads.each { |thread| assert thread.join(PATIENCE), "round #{round}: #{thread.status}" }

      assert_equal round, cache.get("1")
    end
  end

  # Wherever a method returns in its load, with another caller that joins at that step, or that
  # joined while the block ran.
  def test_who_is_killed_at_any_step_of_a_load_keeps_nobody_waiting
    [false, true].each do |early|
      steps = (1..).take_while do |step|
        cache = Polycache::MemoryCache.new(lease_timeout: "1h")
        killed, joiner = fetch_and_be_killed(cache, step, early)
        assert joiner.nil? || joiner.join(PATIENCE), "step #{step}: #{joiner&.status}"
        assert_includes ["first", "second", nil], joiner&.value
        assert_equal 0, cache.instance_variable_get(:@entries).count_loads, "step #{step}"
        killed
      end

      assert_operator steps.size, :>, 100
    end
  end

  private

  # Where CRuby asks whether the thread was killed, beside where it waits.
  RETURNS = %i[return c_return b_return].freeze

  # @return [Array(Boolean, Thread)] whether the load has so many steps, and the caller who joined
  def fetch_and_be_killed(cache, step, early)
    joiner = loader = trace = nil
    left = step
    join = lambda do
      joiner = Thread.new { cache.fetch("k") { "second" } }
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
      cache.fetch("k") { early ? join.call : "first" }
    ensure
      trace.disable
    end
    trace = TracePoint.new(*RETURNS, &kill)
    Thread.pass until loader.stop?
    loader.run
    loader.join
    [left <= 0, joiner]
  end

  def waiting_to_write(cache, value)
    threads = Array.new(3) { |number| Thread.new { cache.set(number.to_s, value) } }
    Thread.pass until threads.all?(&:stop?)
    threads
  end

  def load_one(cache, number)
    cache.fetch("k") do
      number.times { Thread.pass }
      number
    end
  end

  def load_on(cache, number, begun)
    turn = 0
    loop do
      turn += 1
      cache.fetch("#{number}.#{turn}") { turn }
      begun << nil if turn == 1
    end
  end
end
