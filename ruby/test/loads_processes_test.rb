# frozen_string_literal: true

require "test_helper"

# What a load promises to callers in several processes.
class LoadsProcessesTest < Minitest::Test
  include Caches
  include Children

  # Children with many threads each that load one key; the block is their loaders' end, which comes
  # when all threads of all children wait. Gives what each child says: "begun" for each loader, and
  # what each of its threads got.
  def loading_children(cache, count, threads, &ending)
    hold, go = IO.pipe
    children = Array.new(count) do
      child do |say|
        go.close
        load_in(threads, cache, hold, say, &ending)
      end
    end
    before = children.map { |_, from_child| from_child.take_while { |line| line != "waiting\n" } }
    go.close
    children.zip(before).map { |(id, from_child), said| said + said_by(id, from_child).lines }
  ensure
    hold.close
  end

  def load_in(threads, cache, hold, say)
    lock = Mutex.new
    callers = Array.new(threads) do
      Thread.new do
        cache.fetch("k") do
          lock.synchronize { say.call("begun") }
          hold.read # Until the parent closes its end.
          yield
        end
      rescue IOError => e
        e.message
      end
    end
    Thread.pass until callers.all? { |thread| thread.status == "sleep" }
    say.call("waiting")
    callers.each { |thread| say.call(thread.value) }
  end

  def test_a_failing_source_is_asked_twice_by_each_process_at_most
    cache = open_cache
    loading_children(cache, 3, 20) { raise IOError, "down" }.each do |lines|
      assert_operator lines.count("begun\n"), :<=, 2
      assert_equal 20, lines.count("down\n")
    end
    assert_equal 0, cache.check[:leases]
  end

  def test_one_process_loads_and_all_wait_for_it
    lines = loading_children(open_cache, 3, 5) { "value" }.flatten

    assert_equal [1, 15], [lines.count("begun\n"), lines.count("value\n")]
  end

  # While a thread of the parent's loads, its child waits for that load as another process would.
  def test_a_fork_during_a_load
    cache = open_cache
    inside = Thread::Queue.new
    go = Thread::Queue.new
    loader = Thread.new do
      cache.fetch("k") do
        inside << true
        go.pop
      end
    end
    inside.pop
    joined = Thread.new { cache.fetch("k") { flunk } }
    Thread.pass until joined.status == "sleep"
    id, from_child = child do |say|
      waiting = Thread.new { cache.fetch("k") { "child's" } }
      Thread.pass until waiting.status == "sleep"
      say.call("waiting")
      say.call(waiting.value)
    end

    assert_equal "waiting\n", from_child.gets
    go << "parent's"

    assert_equal ["parent's"] * 2, [loader.value, joined.value]
    assert_equal "parent's\n", said_by(id, from_child)
  end

  # The loader's process dies: of the callers that waited in another, one loads for all.
  def test_a_loader_whose_process_is_killed
    cache = open_cache
    id, from_child = child do |say|
      cache.fetch("k") do
        say.call("begun")
        sleep
      end
    end
    from_child.gets
    loads = 0
    others = Array.new(5) do
      Thread.new do
        cache.fetch("k") do
          loads += 1
          "again"
        end
      end
    end
    Thread.pass until others.all? { |thread| thread.status == "sleep" }
    Process.kill(:KILL, id)
    Process.wait(id)

    assert_equal ["again"] * 5, others.map(&:value)
    assert_equal 1, loads
    from_child.close
  end

  # Waiting for another process is bounded, too, also for callers that joined.
  def test_waiting_for_another_process_is_bounded
    cache = open_cache
    hold, go = IO.pipe
    id, from_child = child do |say|
      go.close
      cache.fetch("k") do
        say.call("begun")
        hold.read
        "late"
      end
    end
    from_child.gets
    impatient = open_cache(wait_timeout: "20ms")
    errors = Array.new(3) do
      Thread.new { assert_raises(Polycache::WaitTimeout) { impatient.fetch("k") { flunk } } }
    end.map(&:value)

    assert_equal 3, errors.size
    assert_equal 3, impatient.stats[:wait_timeouts]
    go.close
    said_by(id, from_child)

    assert_equal "late", cache.get("k")
  end

  # Many: what another process loads is waited for, when all else is stored.
  def test_many_of_which_another_process_loads_one
    cache = open_cache
    hold, go = IO.pipe
    id, from_child = child do |say|
      go.close
      cache.get_or_set_many(%w[k other]) do
        say.call("begun")
        hold.read
        { "k" => "the child's" }
      end
    end
    from_child.gets
    asked = []
    many = Thread.new do
      cache.get_or_set_many(%w[k other a]) do |keys|
        asked << keys
        keys.to_h { |key| [key, "mine"] }
      end
    end
    Thread.pass until cache.has?("a")
    go.close
    said_by(id, from_child)

    assert_equal({ "k" => "the child's", "other" => "mine", "a" => "mine" }, many.value)
    assert_equal [["a"], ["other"]], asked
    assert_equal 0, cache.check[:leases]
    hold.close
  end

  # Many: what another process frees is loaded, while another one and a thread load other keys.
  def test_what_falls_to_many_is_loaded_while_another_process_loads
    cache = open_cache
    hold, go = IO.pipe
    id, from_child = child do |say|
      go.close
      cache.fetch("k") do
        say.call("begun")
        hold.read
        "the child's"
      end
    end
    from_child.gets
    begun = Thread::Queue.new
    killed = Thread.new do
      cache.fetch("b") do
        begun << true
        sleep
      end
    end
    begun.pop
    asked = []
    many = Thread.new do
      cache.get_or_set_many(%w[k a b]) do |keys|
        asked << keys
        keys.to_h { |key| [key, "mine"] }
      end
    end
    Thread.pass until cache.has?("a")
    killed.kill
    Timeout.timeout(20) { Thread.pass until cache.has?("b") }
    go.close
    said_by(id, from_child)

    assert_equal({ "k" => "the child's", "a" => "mine", "b" => "mine" }, many.value)
    assert_equal [["a"], ["b"]], asked
    assert_equal 0, cache.check[:leases]
    hold.close
  end

  def test_a_lease_among_processes
    cache = open_cache
    lease = cache.lease("k")
    hold, go = IO.pipe
    id, from_child = child do |say|
      go.close
      say.call(cache.lease("k").acquire)
      hold.read
    end

    assert_equal "true\n", from_child.gets
    assert_equal [true, false], [lease.locked?, lease.acquire(false)]
    Process.kill(:KILL, id)
    Process.wait(id)

    assert lease.acquire, "a holder that dies frees it"
    # The child has the parent's object, and must not give back what is the parent's.
    other, said = child { |say| say.call([lease.release, cache.lease("k").locked?].inspect) }

    assert_equal "[nil, true]\n", said_by(other, said)
    assert_predicate lease, :locked?
    lease.release
    [go, hold, from_child].each(&:close)
  end
end
