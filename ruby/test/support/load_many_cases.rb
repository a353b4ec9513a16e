# frozen_string_literal: true

require "support/load_cases"

# What get_or_set_many promises (spec/semantics.md) to callers in one process, whatever the tiers
# are; beside LoadCases, whose helpers it uses.
module LoadManyCases
  # A caller of many keys, whose block runs; it returns what the gate is opened with.
  def leader_of_many(cache, keys)
    leader = thread { cache.get_or_set_many(keys) { @gate.pass } }
    @gate.wait_for_load
    leader
  end

  def test_many_are_asked_for_and_given_as_they_were_written
    cache = loading_cache
    asked = []
    found = cache.get_or_set_many([:a, "b", "a", "c".b]) do |keys|
      asked << keys
      { "a" => 1, b: nil, "c" => 3 }
    end

    assert_equal [[:a, "b", "c".b]], asked
    assert_equal({ :a => 1, "b" => nil, "a" => 1, "c".b => 3 }, found)
    assert_equal({ "c" => 3 }, cache.fetch_many(["c"]) { flunk })
  end

  def test_each_form_of_a_key_is_given_a_value_of_its_own
    cache = loading_cache
    forms = [:é, "é", "é".b]
    load = -> { cache.get_or_set_many(forms) { { "é" => { "tags" => [+"x"] } } } }
    [load.call, load.call, cache.get_many(forms)].each do |found|
      assert_equal(forms.to_h { |form| [form, { "tags" => ["x"] }] }, found)
      assert_equal 3, found.values.to_h { |value| [value.object_id, value["tags"].object_id] }.size
    end
    function = -> {}
    found = nil
    capture_io { found = cache.get_or_set_many([:f, "f"]) { { "f" => function } } }

    assert_equal({ :f => function, "f" => function }, found)
  end

  def test_what_many_load_is_given_to_those_who_wait_for_one
    cache = loading_cache
    first = leader_of_many(cache, %w[k other])
    others = waiting(2, cache)
    @gate.open({ "k" => ["x"], "other" => 1 })
    values = outcomes([first, *others])

    assert_equal [{ "k" => ["x"], "other" => 1 }, ["x"], ["x"]], values
    refute_same(*values.last(2), "each has a copy")
    assert_equal 0, count_loads(cache)
  end

  # Two callers that want each other's key would wait for ever, did one wait while it holds a load.
  def test_many_are_stored_before_their_caller_waits_for_others
    cache = loading_cache
    first = leader(cache)
    many = thread { cache.get_or_set_many(%w[k a b]) { |keys| keys.to_h { |key| [key, "mine"] } } }
    Thread.pass until cache.has?("b")

    assert_equal "mine", cache.get("a")
    @gate.open("another's")

    assert_equal ["another's", { "k" => "another's", "a" => "mine", "b" => "mine" }],
                 outcomes([first, many])
    assert_equal 1, @gate.loads
  end

  def test_fibers_of_one_thread_share_what_many_load
    cache = loading_cache
    events = []
    thread do
      Fiber.set_scheduler(FiberScheduler.new)
      Fiber.schedule do
        events << cache.get_or_set_many(%w[k a]) do |keys|
          sleep(0.001) until events.include?("others run")
          keys.to_h { |key| [key, "value"] }
        end
      end
      Fiber.schedule do
        events << cache.get_or_set_many(%w[k b]) { |keys| keys.to_h { |key| [key, "own"] } }
      end
      Fiber.schedule { events << "others run" }
    end.join

    assert_equal "others run", events.shift
    assert_equal [{ "k" => "value", "a" => "value" }, { "k" => "value", "b" => "own" }].to_set,
                 events.to_set
  end

  def test_what_falls_to_the_caller_of_many_after_all_is_another_call
    cache = loading_cache
    first = leader(cache)
    asked = []
    many = thread do
      cache.get_or_set_many(%w[k a]) do |keys|
        asked << keys
        keys.to_h { |key| [key, "mine"] }
      end
    end
    Thread.pass until cache.has?("a") && many.stop?
    first.kill

    assert_equal({ "k" => "mine", "a" => "mine" }, many.value)
    assert_equal [["a"], ["k"]], asked
  end

  # Waits until all of them wait.
  def settle(threads)
    calm = 0
    until calm == 100
      Thread.pass
      calm = threads.all?(&:stop?) ? calm + 1 : 0
    end
  end

  def test_a_key_that_many_leave_out_is_absent_for_others_of_many
    cache = loading_cache
    first = leader_of_many(cache, %w[k other])
    many = Array.new(3) { thread { cache.get_or_set_many(%w[other k]) { flunk "it is absent" } } }
    loads = 0
    ones = waiting(3, cache) do
      loads += 1
      "own"
    end
    settle(many)
    @gate.open({ "other" => 1 })

    assert_equal [{ "other" => 1 }] * 4, outcomes([first, *many])
    # Of those who want it alone one loads it.
    assert_equal [["own"] * 3, 1], [outcomes(ones), loads]
    assert_equal 0, count_loads(cache)
    # Of each that joined a hit of "other" and a miss of "k".
    assert_equal [3 + 2, 2 + 3 + 1], cache.stats.values_at(:hits, :misses)
  end

  def test_what_falls_to_a_caller_of_many_is_loaded_while_others_load
    cache = loading_cache
    slow = leader(cache)
    gate = LoadCases::Gate.new
    killed = thread { cache.fetch("b") { gate.pass } }
    gate.wait_for_load
    many = thread { cache.get_or_set_many(%w[k b]) { |keys| keys.to_h { |key| [key, "mine"] } } }
    settle([many])
    killed.kill
    Timeout.timeout(20) { Thread.pass until cache.has?("b") }

    assert_predicate many, :alive?
    @gate.open("another's")

    assert_equal [{ "k" => "another's", "b" => "mine" }, "another's"], outcomes([many, slow])
    assert_equal 0, count_loads(cache)
  end

  def test_the_error_of_many_is_that_of_those_who_wait
    cache = loading_cache
    first = thread do
      cache.get_or_set_many(%w[k other]) do
        @gate.pass
        raise IOError, "the source is down"
      end
    end
    @gate.wait_for_load
    others = waiting(3, cache)
    @gate.open
    errors = outcomes([first, *others])

    assert_equal [IOError], errors.map(&:class).uniq
    assert_equal 0, count_loads(cache)
    assert_equal("afterwards", cache.fetch("k") { "afterwards" })
  end

  def test_a_caller_of_many_who_is_killed_holds_nobody_up
    cache = loading_cache
    first = leader_of_many(cache, %w[k other])
    others = waiting(2, cache) { "own" }
    first.kill

    assert_equal %w[own own], outcomes(others)
    assert_equal 0, count_loads(cache)
  end

  def test_many_are_left_by_break_and_throw
    cache = loading_cache

    assert_equal(1, cache.get_or_set_many(%w[k other]) { break 1 })
    assert_equal(2, catch(:out) { cache.get_or_set_many(%w[k other]) { throw :out, 2 } })
    assert_equal 0, count_loads(cache)
  end

  def test_many_that_ask_for_a_key_of_theirs
    cache = loading_cache
    error = assert_raises(Polycache::InvalidArgument) do
      cache.get_or_set_many(%w[k other]) { cache.get_or_set_many(%w[k]) { flunk } }
    end

    assert_includes error.message, "asks for the key that it loads"
    assert_equal 0, count_loads(cache)
  end

  def test_an_answer_of_many_that_is_none
    cache = loading_cache
    [nil, [%w[k v]], { "k" => 1, "x" => 2 }, { "k" => 1, 5 => 2 }].each do |answer|
      assert_raises(Polycache::InvalidArgument, answer.inspect) do
        cache.get_or_set_many(%w[k other]) { answer }
      end
      refute cache.has?("k")
    end
    assert_raises(Polycache::InvalidArgument) { cache.get_or_set_many(%w[k]) }
    assert_raises(Polycache::InvalidArgument) { cache.get_or_set_many([], ttl: "x") { flunk } }
    assert_equal 0, count_loads(cache)
  end

  def test_waiting_for_others_is_bounded_for_many_too
    cache = loading_cache(wait_timeout: "1ms")
    first = leader(cache)
    asked = nil
    assert_raises(Polycache::WaitTimeout) do
      cache.get_or_set_many(%w[k a]) { |keys| (asked = keys).to_h { |key| [key, "mine"] } }
    end

    assert_equal ["a"], asked
    assert_equal "mine", cache.get("a")
    assert_equal 1, cache.stats[:wait_timeouts]
    @gate.open("value")

    assert_equal "value", first.value
  end
end
