# frozen_string_literal: true

require "test_helper"

# Many threads on one handle.
class ThreadsTest < Minitest::Test
  include Caches

  def test_threads_do_everything_at_once
    cache = open_cache
    threads = Array.new(8) do |number|
      Thread.new do
        random = Random.new(number)
        2000.times { |round| do_something(cache, random, round) }
        :done
      end
    end

    assert_equal [:done] * 8, threads.map(&:value)
    report = cache.check

    assert_empty report[:damaged]
    assert_equal 0, report[:leases]
  end

  # What a key holds says which key it is, so foreign bytes would show.
  def do_something(cache, random, round)
    key = "k#{random.rand(20)}"
    case round % 6
    when 0 then cache.set(key, [key, "x" * random.rand(3000)])
    when 1 then cache.delete(key)
    when 2 then assert_equal key, cache.fetch(key) { [key, round] }.first
    else
      found = cache.get(key)
      assert_equal key, found.first if found
    end
    cache.stats if (round % 500).zero?
  end

  # While one thread is in a slow call (some milliseconds, so that a busy machine lets others run in
  # it), another counts on. If the call kept Ruby's lock, all the rounds would fit into a few slices
  # of the thread that calls, which take 100 ms each.
  def test_slow_calls_leave_the_lock_to_others
    cache = open_cache(limit: "64MiB")
    cache.set_many((1..10_000).to_h { |number| ["k#{number}", "x" * 1000] })
    count = 0
    counting = Thread.new { loop { count += 1 } }
    counted = 0
    40.times do
      before = count
      cache.check
      counted += 1 if count > before
      break if counted == 5
    end

    assert_equal 5, counted
  ensure
    counting.kill.join
  end

  def test_a_thread_is_killed_in_the_middle_of_anything
    cache = open_cache
    20.times do |round|
      started = Queue.new
      thread = Thread.new do
        started << 1
        loop do
          cache.fetch("k#{rand(5)}") { [rand, Set[1], BigDecimal("1.5")] }
          cache.delete("k#{rand(5)}")
          Thread.pass
        end
      end
      started.pop
      round.times { Thread.pass }
      thread.kill.join
    end

    assert_equal 0, cache.check[:leases]
  end
end
