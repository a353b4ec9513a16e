# frozen_string_literal: true

require "support/fiber_scheduler"
require "timeout"

# What a load promises (spec/semantics.md, "get_or_set"), in one process, whatever the tiers are. A
# test that includes it has +loading_cache(**options)+ and +count_loads(cache)+.
module LoadCases
  # A loader that says when it begins, and goes on when it is told.
  class Gate
    def initialize
      @begun = Thread::Queue.new
      @go = Thread::Queue.new
      @loads = 0
    end

    attr_reader :loads

    # Runs in the loader.
    def pass
      @loads += 1
      @begun << true
      @go.pop
    end

    def wait_for_load = @begun.pop
    def open(answer = nil) = @go << answer
  end

  def setup
    super
    @gate = Gate.new
    @threads = []
  end

  def teardown
    outcomes(@threads.each(&:kill))
    super
  end

  def thread(&block)
    Thread.new(&block).tap do |thread|
      thread.report_on_exception = false
      @threads << thread
    end
  end

  # The first caller, whose loader runs.
  def leader(cache, &load)
    load ||= -> { @gate.pass }
    leader = thread { cache.fetch("k") { load.call } }
    @gate.wait_for_load
    leader
  end

  # Others, which wait.
  def waiting(count, cache, &load)
    load ||= -> { flunk "no other caller loads" }
    threads = Array.new(count) { thread { cache.fetch("k") { load.call } } }
    # One that was woken a moment ago, of a Mutex, say, still says that it sleeps. One that has
    # ended no longer waits.
    calm = 0
    until calm == 100
      Thread.pass
      calm = threads.all?(&:stop?) ? calm + 1 : 0
    end
    threads
  end

  def outcomes(threads)
    threads.map do |thread|
      thread.value
    rescue Exception => e # rubocop:disable Lint/RescueException
      e
    end
  end

  # Runs the block; what was warned of meanwhile.
  def warnings(&block) = capture_io(&block).last

  def test_a_failing_loader_runs_once_for_all_who_wait
    cache = loading_cache
    first = leader(cache) do
      @gate.pass
      raise IOError, "the source is down"
    end
    others = waiting(99, cache)
    @gate.open
    errors = outcomes([first, *others])

    assert_equal(["the source is down"] * 100, errors.map(&:message))
    assert_equal [IOError], errors.map(&:class).uniq
    assert_equal 1, @gate.loads
    assert_equal("afterwards", cache.fetch("k") { "afterwards" }, "a later caller starts afresh")
    assert_equal 0, count_loads(cache)
  end

  def test_fibers_get_the_error_of_the_one_that_loads
    cache = loading_cache
    loads = 0
    errors = []
    thread do
      Fiber.set_scheduler(FiberScheduler.new)
      joined = 0
      20.times do
        Fiber.schedule do
          joined += 1
          cache.fetch("k") do
            loads += 1
            sleep(0.001) until joined == 20
            raise IOError
          end
        rescue IOError => e
          errors << e
        end
      end
    end.join

    assert_equal [1, 20], [loads, errors.size]
  end

  # What ends the loop of a `loop` is an error like any other.
  def test_a_loader_that_raises_stop_iteration
    cache = loading_cache
    first = leader(cache)
    other = waiting(1, cache) { raise StopIteration, "mine" }
    first.kill

    assert_equal ["mine"], outcomes(other).map(&:message)
  end

  def test_a_slow_loader_is_stored_and_answers_all
    cache = loading_cache(lease_timeout: "500ms")
    slow = leader(cache)
    others = waiting(20, cache) { @gate.pass }
    # The first is as old as the timeout now, and one of the others loads beside it.
    @gate.wait_for_load
    @gate.open("slow")

    assert_equal "slow", slow.value
    # All but the one that loads are answered, though they waited for that one.
    Thread.pass until others.count(&:alive?) == 1
    @gate.open("beside")

    assert_equal ["beside", *["slow"] * 19], outcomes(others).sort
    assert_equal "slow", cache.get("k")
    assert_equal 2, @gate.loads
    assert_equal 1, cache.stats[:invalidated_loads]
  end

  def test_a_hung_loader_holds_nobody_up
    cache = loading_cache(lease_timeout: "63ms")
    hung = leader(cache)

    assert_equal("beside", cache.fetch("k") { "beside" })
    assert_equal "beside", cache.get("k")
    @gate.open("hung")

    assert_equal "hung", hung.value
    assert_equal "beside", cache.get("k")
    assert_equal 0, count_loads(cache)
  end

  # Ends a load in some way, while others wait: one of them loads, and the rest get its value.
  def cancelled
    cache = loading_cache
    cache.clear
    first = thread { yield(cache, -> { @gate.pass }) }
    @gate.wait_for_load
    loads = 0
    others = waiting(5, cache) do
      loads += 1
      "second"
    end
    @gate.open

    assert_equal ["second"] * 5, outcomes(others)
    assert_equal 1, loads
    assert_equal 0, count_loads(cache)
    first
  end

  def test_a_caller_that_is_killed
    cancelled do |cache, pass|
      cache.fetch("k") do
        pass.call
        Thread.current.kill
      end
    end
  end

  def test_a_caller_that_leaves_by_throw
    first = cancelled do |cache, pass|
      catch(:out) do
        cache.fetch("k") do
          pass.call
          throw :out, "thrown"
        end
      end
    end

    assert_equal "thrown", first.value
  end

  def test_a_caller_that_leaves_by_break
    first = cancelled do |cache, pass|
      cache.fetch("k") do
        pass.call
        break "broken off"
      end
    end

    assert_equal "broken off", first.value
  end

  def test_a_caller_that_is_interrupted
    stop = Class.new(Exception) # rubocop:disable Lint/InheritException
    first = cancelled do |cache, pass|
      cache.fetch("k") do
        pass.call
        raise stop
      end
    end

    assert_raises(stop) { first.value }
  end

  def test_a_caller_whose_time_is_over
    cache = loading_cache
    first = thread { Timeout.timeout(0.2) { cache.fetch("k") { @gate.pass } } }
    @gate.wait_for_load
    others = waiting(5, cache) { "second" }

    assert_equal ["second"] * 5, outcomes(others)
    assert_raises(Timeout::Error) { first.value }
  end

  def test_a_caller_that_another_thread_stops
    cache = loading_cache
    first = leader(cache)
    others = waiting(5, cache) { flunk }
    first.raise(IOError, "from outside")

    assert_equal ["from outside"] * 6, outcomes([first, *others]).map(&:message)
    assert_equal 0, count_loads(cache)
  end

  def test_those_who_wait_may_be_killed
    cache = loading_cache
    first = leader(cache)
    others = waiting(20, cache)
    others.first(10).each(&:kill).each(&:join)
    others[10].raise(IOError)
    @gate.open("value")

    assert_equal "value", first.value
    assert_equal ["value"] * 9, outcomes(others.last(9))
    assert_raises(IOError) { others[10].value }
  end

  def test_waiting_is_bounded
    cache = loading_cache(wait_timeout: "1ms")
    first = leader(cache)
    others = Array.new(3) { thread { cache.fetch("k") { flunk } } }
    errors = outcomes(others)

    assert_equal [Polycache::WaitTimeout], errors.map(&:class).uniq
    assert_equal [["wait_timeout", true]], errors.map { |e| [e.code, e.retryable?] }.uniq
    assert_equal 3, cache.stats[:wait_timeouts]
    @gate.open("value")

    assert_equal "value", first.value
    assert_equal "value", cache.get("k")
  end

  def test_a_delete_during_a_load
    cache = loading_cache
    first = leader(cache)
    before = waiting(2, cache)
    cache.delete("k")

    assert_equal("new", cache.fetch("k") { "new" }, "a later caller loads")
    @gate.open("old")

    assert_equal "old", first.value
    # The callers that waited before are answered by whichever ends first.
    assert_empty outcomes(before) - %w[old new]
    assert_equal "new", cache.get("k")
  end

  def test_a_set_during_a_load
    cache = loading_cache
    first = leader(cache)
    before = waiting(2, cache)
    cache.set("k", "set")

    assert_equal "set", cache.fetch("k") { flunk }
    @gate.open("loaded")

    assert_equal ["loaded"] * 3, outcomes([first, *before])
    assert_equal "set", cache.get("k")
  end

  def test_all_have_a_value_of_their_own
    cache = loading_cache
    first = leader(cache)
    others = waiting(3, cache)
    @gate.open([+"part"])
    values = outcomes([first, *others])

    assert_equal [["part"]] * 4, values
    assert_equal 4, values.map(&:object_id).uniq.size
    assert_equal 4, values.map { |value| value.first.object_id }.uniq.size
    assert_equal 3, cache.stats[:hits]
  end

  def test_a_loader_that_asks_for_its_own_key
    cache = loading_cache
    error = assert_raises(Polycache::InvalidArgument) do
      cache.fetch("k") { cache.fetch("k") { flunk } }
    end

    assert_includes error.message, "asks for the key that it loads"
    # From a fiber that it runs, too.
    assert_raises(Polycache::InvalidArgument) do
      cache.fetch("k") { Fiber.new { cache.fetch("k") { flunk } }.resume }
    end
    assert_equal(2, cache.fetch("k") { cache.fetch("other") { 1 } + 1 })
    cache.clear
    # After a delete it is another load.
    value = cache.fetch("k") do
      cache.delete("k")
      cache.fetch("k") { "inner" }
    end

    assert_equal "inner", value
  end

  def test_a_value_that_cannot_be_stored
    cache = loading_cache
    odd = Struct.new(:field).new([])
    values = nil
    said = warnings do
      first = leader(cache)
      others = waiting(3, cache)
      @gate.open(odd)
      values = outcomes([first, *others])
      values << cache.fetch("k") { odd }
    end

    assert(values.all? { |value| value.equal?(odd) }, "it has no copies")
    assert_equal 1, said.lines.size, "said once"
    assert_includes said, "unsupported_value"
    assert_equal 2, cache.stats[:unstored]
    refute cache.has?("k")
    assert_equal 0, count_loads(cache)
  end

  def test_a_value_that_cannot_be_stored_is_an_error_where_that_is_wished
    cache = loading_cache(store_errors: :raise)
    errors = nil
    said = warnings do
      first = leader(cache)
      others = waiting(3, cache)
      @gate.open([1, Object.new])
      errors = outcomes([first, *others])
    end

    assert_equal [["unsupported_value", "$[1]"]], errors.map { |e| [e.code, e.path] }.uniq
    assert_empty said
    assert_equal 0, count_loads(cache)
    assert_equal("next", cache.fetch("k") { "next" })
  end

  def test_a_lease_is_one_callers
    cache = loading_cache
    mine = cache.lease("k")
    other = cache.lease(:k)

    assert_equal [true, false, true], [mine.acquire, other.acquire(false), other.locked?]
    assert_nil other.release, "it is not its own"
    assert_predicate mine, :locked?
    waiting = thread { other.acquire }
    Thread.pass until waiting.status == "sleep"
    mine.release

    assert waiting.value
    assert_nil cache.get("k")
    assert_equal(1, cache.fetch("k") { 1 })
    refute mine.acquire("1ms")
    assert_raises(Polycache::WaitTimeout) { mine.synchronize("1ms") { flunk } }
    other.release

    assert_equal(:done, mine.synchronize { :done })
    refute_predicate mine, :locked?
    assert_raises(IOError) { mine.synchronize { raise IOError } }
    refute_predicate mine, :locked?
    assert_raises(Polycache::InvalidKey) { cache.lease(1) }
    [0, -1, nil, "soon", []].each do |wait|
      assert_raises(Polycache::InvalidArgument) { mine.acquire(wait) }
    end
  end
end
