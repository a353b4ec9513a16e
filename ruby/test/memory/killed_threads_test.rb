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

  private

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
