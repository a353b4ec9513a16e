# frozen_string_literal: true

require "memory/helper"
require "support/children"
require "support/load_cases"
require "support/load_many_cases"

# Of all callers in the process one loads; none waits in vain. And what threads and forks may
# break.
class LoadsTest < Minitest::Test
  include MemoryCaches
  include Children
  include LoadCases
  include LoadManyCases

  def loading_cache(**options) = cache(**options)
  def count_loads(cache) = cache.instance_variable_get(:@entries).count_loads

  def test_threads_share_one_load
    tested = cache
    loads = 0
    started = Thread::Queue.new
    go = Thread::Queue.new
    loader = Thread.new do
      tested.fetch("k") do
        loads += 1
        started << true
        go.pop
        ["value"]
      end
    end
    started.pop
    others = Array.new(5) { Thread.new { tested.fetch("k") { flunk } } }
    Thread.pass until others.all? { |thread| thread.status == "sleep" }
    go << true
    values = [loader, *others].map(&:value)

    assert_equal [["value"]] * 6, values
    assert_equal 6, values.map(&:object_id).uniq.size, "each has a copy"
    assert_equal 1, loads
    assert_equal 0, count_loads(tested)
  end

  def test_fibers_of_one_thread_share_one_load
    tested = cache
    events = []
    Thread.new do
      Fiber.set_scheduler(FiberScheduler.new)
      Fiber.schedule do
        events << tested.fetch("k") do
          events << "loading"
          sleep(0.001) until events.include?("others run")
          "value"
        end
      end
      Fiber.schedule { events << tested.fetch("k") { flunk } }
      Fiber.schedule { events << "others run" }
    end.join

    assert_equal ["loading", "others run", "value", "value"], events
  end

  # Ends a load in the way that a block is given, with another caller waiting: that one loads.
  def ended_by(tested, wait: true)
    inside = Thread::Queue.new
    go = Thread::Queue.new
    first = Thread.new do
      Thread.current.report_on_exception = false
      yield(lambda do
        inside << true
        go.pop
      end)
    end
    inside.pop
    waiting = Thread.new { tested.fetch("k") { "second" } }
    Thread.pass until !wait || waiting.status == "sleep"
    go << true

    assert_equal "second", waiting.value
    first
  end

  def test_a_load_that_is_left_by_throw_or_break
    tested = cache
    ended_by(tested) do |ready|
      catch(:out) do
        tested.fetch("k") do
          ready.call
          throw :out
        end
      end
    end
    tested.clear
    ended_by(tested) do |ready|
      tested.fetch("k") do
        ready.call
        break
      end
    end
  end

  def test_a_load_whose_thread_is_killed
    tested = cache
    ended_by(tested) do |ready|
      tested.fetch("k") do
        ready.call
        Thread.current.kill
      end
    end
  end

  def test_writes_during_a_load_win
    tested = cache
    {
      "set" => [-> { tested.set("k", "set") }, "set"], "delete" => [-> { tested.delete("k") }, nil],
      "take" => [-> { tested.take("k") }, nil], "clear" => [-> { tested.clear }, nil],
      "increment" => [-> { tested.increment("k") }, 1]
    }.each do |name, (write, then_there)|
      tested.delete("k")
      loaded = tested.fetch("k") do
        write.call
        "loaded"
      end

      assert_equal "loaded", loaded, name
      then_there ? assert_equal(then_there, tested.get("k"), name) : refute(tested.has?("k"), name)
    end
  end

  # A caller that began after a delete is not given what was loaded before it.
  def test_nobody_joins_a_load_that_is_invalid
    tested = cache
    inner = nil
    outer = tested.fetch("k") do
      tested.delete("k")
      inner = Thread.new { tested.fetch("k") { "after" } }.value
      "before"
    end

    assert_equal %w[before after after], [outer, inner, tested.get("k")]
  end

  def test_a_child_does_not_wait_for_its_parents_loads
    tested = cache
    go = Thread::Queue.new
    inside = Thread::Queue.new
    loader = Thread.new do
      tested.fetch("k") do
        inside << true
        go.pop
        "parent's"
      end
    end
    inside.pop
    tested.set("other", "set before")
    id, pipe = child do |say|
      say.call(tested.fetch("k") { "child's" })
      say.call(tested.get("other"))
    end

    assert_equal "child's\nset before\n", said_by(id, pipe)
    go << true

    assert_equal "parent's", loader.value
  end

  # Children of a thread, forked while other threads are in the middle of changes.
  def test_children_are_whole
    tested = cache(max_entries: 50)
    stop = false
    writers = Array.new(3) do |number|
      Thread.new do
        at = 0
        tested.set("#{number} #{at += 1}", [at], ttl: [nil, 5].sample) until stop
      end
    end
    4.times do
      id, pipe = child do |say|
        100.times { |at| tested.set("child #{at}", at) }
        Structure.check(tested)
        say.call(tested.get("child 99"))
      end

      assert_equal "99\n", said_by(id, pipe)
    end
  ensure
    stop = true
    writers&.each(&:join)
  end

  def test_a_change_that_is_cut_short_leaves_nothing_wrong
    tested = cache(max_entries: 20)
    20.times do
      writer = Thread.new do
        at = 0
        loop { tested.set("key #{(at += 1) % 40}", at) }
      end
      Thread.pass
      sleep(0.0005)
      writer.kill.join
      tested.set("after", "a kill")
      Structure.check(tested)

      assert_equal "a kill", tested.get("after")
    end
    # Planted, for the kills above may all have come at harmless places.
    entries = tested.instance_variable_get(:@entries)
    assert_raises(IOError) do
      entries.core.change do
        entries.core.store.policy.remove(entries.index.values.first)
        raise IOError
      end
    end
    tested.set("after", "an error")
    Structure.check(tested)

    assert_equal ["after"], tested.keys
  end

  def test_threads_read_and_write_what_they_like
    random = Random.new(5)
    %w[2q-clock lru].each do |policy|
      tested = cache(max_entries: 20, policy: policy)
      threads = Array.new(4) do |number|
        mine = Random.new(random.rand(1000) + number)
        Thread.new { 3000.times { work(tested, mine, "key #{mine.rand(40)}") } }
      end
      threads.each(&:join)
      Structure.check(tested)

      assert_equal 0, count_loads(tested)
    end
  end

  # Numbers lose nothing when threads add at the same time.
  def test_increments_are_whole
    tested = cache
    Array.new(4) { Thread.new { 1000.times { tested.increment("n") } } }.each(&:join)

    assert_equal 4000, tested.get("n")
  end

  private

  def work(tested, random, key)
    case random.rand(10)
    when 0..4
      value = tested.get(key)
      raise "a value of another key" unless value.nil? || value == [key]
    when 5, 6 then tested.set(key, [key], ttl: [nil, 1].sample(random: random))
    when 7 then tested.delete(key)
    when 8 then tested.fetch(key) { [key] }
    else random.rand(50).zero? ? tested.clear : tested.touch(key, ttl: 5)
    end
  end
end
