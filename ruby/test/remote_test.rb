# frozen_string_literal: true

require "test_helper"
require_relative "support/remote_caches"

# The remote tier on real servers; what every package does alike is in the conformance cases.
class RemoteTest < Minitest::Test
  include RemoteCaches
  include Children

  # The port that nobody listens on.
  NOBODY = "redis://127.0.0.1:1"

  def round_trips(cache)
    before = cache.remote_stats.fetch(:round_trips)
    yield
    cache.remote_stats.fetch(:round_trips) - before
  end

  everywhere "what one host writes another reads" do
    one = open_host
    other = open_host
    one.set("k", { "a" => [1, "x"] })

    assert_equal({ "a" => [1, "x"] }, listens(other).get("k"))
    before = other.remote_stats
    100.times { other.get("k") }
    after = other.remote_stats

    assert_equal before[:remote_hits], after[:remote_hits]
    assert_equal before[:near_hits] + 100, after[:near_hits]
    one.set("k", "second")
    until_true("the other host hears of it") { other.get("k") == "second" }

    assert one.delete("k")
    until_true("the other host hears of that") { other.get("k").nil? }
  end

  somewhere "the machine counts what programs did" do
    cache = listens(open_host)
    cache.set("k", "v")
    200.times { assert_equal "v", cache.get("k") }
    loading = Queue.new
    first = Thread.new do
      cache.get_or_set("l") do
        loading << true
        # The other caller joins in that time; the test is right as well if it comes later.
        sleep 0.05
        "loaded"
      end
    end
    loading.pop

    assert_equal "loaded", cache.get_or_set("l") { flunk }
    assert_equal "loaded", first.value
    own = cache.stats
    remote = cache.remote_stats
    machine = cache.machine_stats
    tiers = machine.values_at(:near_hits, :remote_hits, :joined_hits)

    assert_equal own.values_at(:hits, :misses, :writes), machine.values_at(:hits, :misses, :writes)
    assert_equal [machine[:hits], remote[:joined_hits]], [tiers.sum, tiers.last]
    assert_equal [1, 0, 0, 0], machine.values_at(:loads, :faults, :last_fault_at, :last_open_at)
  end

  somewhere "two processes of a host that wait for another host load nothing" do
    loader = open_host
    waiting = open_host
    other = open_remote(path: waiting.path, limit: "4MiB")
    [loader, waiting, other].each { |cache| listens(cache) }
    loads = Queue.new
    100.times do |turn|
      begun = Queue.new
      callers = [Thread.new do
        loader.get_or_set("k#{turn}") do
          begun << true
          loads << :loader
          sleep 0.01
          "v"
        end
      end]
      begun.pop
      [waiting, other].each do |cache|
        callers << Thread.new { cache.get_or_set("k#{turn}") { (loads << :waiting) && "v" } }
      end
      callers.each(&:join)
    end

    assert_equal({ loader: 100 }, Array.new(loads.size) { loads.pop }.tally)
  end

  everywhere "hosts without a directory hear of each other" do
    one = open_remote
    other = listens(open_remote(memory: { isolation: "freeze" }))
    one.set("k", ["first"])

    assert_predicate other.get("k"), :frozen?
    one.set("k", ["second"])
    until_true("the other host hears of it") { other.get("k") == ["second"] }
  end

  everywhere "many keys take one round trip" do
    cache = open_remote(max_staleness: 0)
    cache.set("warm", "up")
    values = (0...100).to_h { |number| ["k#{number}", { "number" => number }] }

    assert_equal(1, round_trips(cache) { cache.set_many(values) })
    assert_equal(1, round_trips(cache) { assert_equal values, cache.get_many(values.keys) })
    assert_equal values, cache.get_many([*values.keys, "none"])
    # An entry before one that cannot be written is stored, one after it is not.
    assert_raises(Polycache::UnsupportedValue) do
      cache.set_many({ "before" => 1, "bad" => Object.new, "after" => 2 })
    end
    assert_equal({ "before" => 1 }, cache.get_many(%w[before bad after]))
    deletes = -> { assert_equal 100, cache.delete_many([*values.keys, "none"]) }

    assert_equal(1, round_trips(cache, &deletes))
    assert_empty cache.get_many(values.keys)
    loaded = cache.get_or_set_many(%w[k1 k2]) { |keys| keys.to_h { |key| [key, "loaded"] } }

    assert_equal({ "k1" => "loaded", "k2" => "loaded" }, loaded)
  end

  everywhere "a clear is everybody's" do
    shop = open_host.namespace("shop")
    other = open_host
    prices = listens(other.namespace("shop").namespace("prices"))
    prices.set("apple", 1)
    other.set("apple", "outside")

    assert_equal 1, prices.get("apple")
    shop.clear
    until_true("the clear is heard of") { prices.get("apple").nil? }

    assert_empty prices.keys.to_a
    assert_equal "outside", other.get("apple")
  end

  everywhere "writes of a plain client are heard of" do
    cache = listens(open_host(namespace: "shop"))
    cache.set("k", "ours")

    assert_equal "ours", cache.get("k")
    plain("SET", "#{@prefix}:shop::k", "theirs")
    until_true("the foreign bytes are seen") do
      cache.get("k") && false
    rescue Polycache::MalformedEntry
      true
    end
    plain("DEL", "#{@prefix}:shop::k")
    until_true("they are gone") { cache.get("k", :none) == :none }
  end

  def test_a_server_that_is_not_there
    cache = open_host(remote: NOBODY)

    assert_nil cache.get("k")
    refute cache.has?("k")
    error = assert_raises(Polycache::RemoteUnavailable) { cache.set("k", "v") }
    assert_equal ["remote_unavailable", true], [error.code, error.retryable?]
    [-> { cache.delete("k") }, -> { cache.increment("n") }, -> { cache.clear },
     -> { cache.take("k") }, -> { cache.keys.to_a }].each do |operation|
      assert_raises(Polycache::RemoteUnavailable, &operation)
    end
    assert_unstored(cache)
  end

  # Loaders run, and their values are handed over.
  def assert_unstored(cache)
    _, warned = capture_io do
      assert_equal "loaded", cache.get_or_set("k") { "loaded" }
      assert_equal({ "a" => 1 }, cache.get_or_set_many(["a"]) { { "a" => 1 } })
    end
    assert_match(/remote_unavailable/, warned)
    assert_equal 2, cache.stats[:unstored]
    assert_operator cache.remote_stats[:faults], :>, 5
    assert cache.remote_stats[:is_open]
    refute_empty cache.remote_stats[:last_fault]
  end

  somewhere "one process of two hosts loads" do
    hold, go = IO.pipe
    first = loading_child(hold, go)
    said = [first.last.gets]
    said << first.last.gets until said.include?("begun\n")
    second = loading_child(hold, go)
    said << second.last.gets
    go.close
    said.push(*said_by(*first).lines, *said_by(*second).lines)

    assert_equal %w[begun value value waiting waiting], said.map(&:chomp).sort
  ensure
    [hold, go].each(&:close)
  end

  # A child on a host of its own, which loads the key until the parent closes its end of the pipe.
  def loading_child(hold, release)
    cache = open_host
    child do |say|
      release.close
      loader = Thread.new do
        cache.get_or_set("k") do
          say.call("begun")
          hold.read
          "value"
        end
      end
      Thread.pass until loader.status == "sleep"
      say.call("waiting")
      say.call(loader.value)
    end
  end

  somewhere "threads of a process load once" do
    cache = open_remote
    go = Thread::Queue.new
    loads = Thread::Queue.new
    callers = Array.new(5) do
      Thread.new do
        cache.get_or_set("k") do
          loads << true
          go.pop
        end
      end
    end
    Thread.pass until callers.all? { |caller| caller.status == "sleep" } && !loads.empty?
    go << "value"

    assert_equal ["value"] * 5, callers.map(&:value)
    assert_equal 1, loads.size
  end

  somewhere "a plain write during a load wins" do
    cache = open_host
    loaded = cache.get_or_set("k") do
      plain("DEL", "#{@prefix}:::k")
      "old"
    end

    assert_equal "old", loaded
    assert_nil cache.get("k")
    assert_equal 1, cache.stats[:invalidated_loads]
  end

  # The server is a thread of this very process: it answers only if the caller lets it run.
  def test_other_threads_run_while_one_waits_for_the_server
    listening = TCPServer.new("127.0.0.1", 0)
    server = Thread.new { answer_nil(listening.accept) }
    @port = listening.addr[1]
    cache = open_remote(max_staleness: 0)

    assert_equal :none, cache.get("k", :none)
    assert_equal 0, cache.remote_stats[:faults]
  ensure
    server&.kill
    listening&.close
  end

  # Answers every command with nil.
  def answer_nil(socket)
    while (head = socket.gets)
      head.delete_prefix("*").to_i.times do
        socket.read(socket.gets.delete_prefix("$").to_i + 2)
      end
      socket.write("$-1\r\n")
    end
  end

  # A thread that is to end does so once the server's time is over; the lock of its load is free.
  somewhere "a killed thread leaves no load behind" do
    cache = open_remote
    inside = Thread::Queue.new
    loader = Thread.new { cache.get_or_set("k") { inside << Thread.stop } }
    Thread.pass until loader.status == "sleep"
    loader.kill.join

    assert_equal "value", cache.get_or_set("k") { "value" }
    assert_equal "value", cache.get("k")
  end

  somewhere "a forked child has connections and a listener of its own" do
    [open_host, open_remote].each do |cache|
      listens(cache)
      cache.set("k", "parent's")
      id, from_child = child do |say|
        say.call(listens(cache).get("k"))
        cache.set("k", "child's")
        100.times { |number| cache.get("k#{number}") }
        say.call(cache.increment("n"))
      end
      # While the child uses its connections, the parent uses its own.
      100.times { |number| assert_nil cache.get("other#{number}") }

      assert_equal "parent's\n1\n", said_by(id, from_child)
      until_true("the parent hears of it") { cache.get("k") == "child's" }

      assert_equal [0, ""], cache.remote_stats.values_at(:faults, :last_fault)
      cache.clear
    end
  end

  # A thread changes a text while another one's write of it waits for the server.
  somewhere "a value may change while it is written" do
    cache = open_remote
    texts = [+"a", +"b"]
    stop = false
    changing = Thread.new do
      %w[a b].zip(texts) { |letter, text| text.replace(letter * rand(1..100_000)) } until stop
    end
    # Few, because the other thread computes, and Ruby gives each its turn after 100 ms only.
    10.times do
      cache.set("k", texts)
      cache.replace("k", texts)

      assert_equal(%w[a b], cache.get("k").map(&:squeeze))
    end
  ensure
    stop = true
    changing&.join
  end

  def test_wrong_options
    [{ remote: 5 }, { remote: "http://localhost" }, { remote: NOBODY, timeout: 0 },
     { remote: NOBODY, timeout: "61s" }, { remote: NOBODY, max_staleness: "1ms" },
     { remote: NOBODY, max_staleness: -1 }, { remote: NOBODY, prefix: "a{b}" },
     { remote: NOBODY, prefix: "" }, { timeout: "1s" }, { prefix: "p" }, { max_staleness: 0 },
     { path: @directory, prefix: "p" }, { remote: NOBODY, path: nil },
     { remote: NOBODY, limit: "4MiB" }].each do |options|
      assert_raises(Polycache::InvalidArgument, options.inspect) { Polycache::Cache.new(**options) }
    end
  end

  def test_a_password_is_not_told
    error = assert_raises(Polycache::InvalidArgument) do
      Polycache::Cache.new(remote: "http://:secret@localhost")
    end
    refute_includes error.message, "secret"
    refute_includes open_remote(remote: "redis://:secret@127.0.0.1:1").inspect, "secret"
  end

  def test_a_cache_without_a_server_has_no_statistics_of_one
    assert_nil Polycache::Cache.new.remote_stats
    assert_nil Polycache::Cache.open(path: @directory, limit: "4MiB", &:remote_stats)
  end
end
