# frozen_string_literal: true

require "memory/helper"
require "support/killed_loads"

# Threads that are killed while they wait for a cache's lock.
class KilledThreadsTest < Minitest::Test
  include KilledLoads

  ROUNDS = 40

  # A thread that is killed in the queue for the lock must not keep the wake-up of the next one. A
  # thread that sleeps for ever keeps the process from exiting.
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

  # Nor one in a load that is joined, nor one that tells those that joined.
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

  def test_who_is_killed_at_any_step_of_a_load_keeps_nobody_waiting
    count = ->(cache) { cache.instance_variable_get(:@entries).count_loads }
    assert_nobody_waits_for_who_is_killed(count, 100) do
      Polycache::MemoryCache.new(lease_timeout: "1h")
    end
  end

  private

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
