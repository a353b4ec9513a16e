# frozen_string_literal: true

require_relative "helper"

class ReadsTest < Minitest::Test
  include ReadsOnServers

  everywhere "what another program writes, deletes, expires and flushes is shown" do
    client = redis
    reads = cached_on_host(client, max_staleness: "10s")
    client.set("c:a", "1")
    keeping(reads) { reads.get("c:a") }
    [
      [%w[SET c:a 2], "2"], [%w[APPEND c:a 3], "23"], [%w[DEL c:a], nil],
      [%w[SET c:a 4 PX 300], "4"], [nil, nil], [%w[SET c:a 5], "5"], [%w[FLUSHALL], nil],
      [%w[SET c:a 6], "6"]
    ].each do |change, expected|
      plain(*change) if change
      until_true("#{change} is shown") { reads.get("c:a") == expected }
      keeping(reads) { reads.get("c:a") } unless expected == "4"
    end
  end

  everywhere "hashes in another order are other words" do
    redis.hset("h:o", "a", "1", "b", "2", "x", "3", "y", "4")
    reads = cached(redis_client)
    first = { "a" => "b", "x" => "y" }
    second = { "x" => "y", "a" => "b" }
    keeping(reads) { reads.call("HMGET", "h:o", first) }
    keeping(reads) { reads.call("HMGET", "h:o", second) }
    assert_equal %w[1 2 3 4], reads.call("HMGET", "h:o", first)
    assert_equal %w[3 4 1 2], reads.call("HMGET", "h:o", second)
  end

  everywhere "words of calls count in memory" do
    reads = cached(redis, memory: { max_bytes: 100 << 10 })
    first = proc { reads.exists("0#{"k" * 10_000}") }
    keeping(reads, &first)
    (1...50).each { |number| keeping(reads) { reads.exists("#{number}#{"k" * 10_000}") } }
    before = reads.stats[:memory_hits]
    first.call
    assert_equal before, reads.stats[:memory_hits]
  end

  # Waits in front of each read that is sent.
  module Gate
    def call_pipelined(commands, config)
      config.custom[:gate].call
      super
    end
  end

  everywhere "100 threads make one round trip" do
    redis.del("many")
    redis.rpush("many", "a")
    wait = -> {}
    gated = { middlewares: [Gate], custom: { gate: -> { wait.call } } }
    [[redis(**gated), :lrange], [redis_client(**gated), :call]].each do |client, method|
      words = ["many", 0, -1]
      words.unshift("LRANGE") if method == :call
      reads = cached(client)
      # The first one is sent when all others have joined it.
      wait = -> { until_true("all join") { reads.stats[:joined] == 99 } }
      all = simultaneously(100) { reads.public_send(method, *words) }
      wait = -> {}

      assert_equal [["a"]], all.uniq
      assert_equal 1, all.uniq(&:object_id).size
      assert_equal 1, reads.stats[:sent]
    end
    redis.del("many")
  end

  somewhere "threads that wait for a reply that is not kept have it encoded once" do
    client = redis
    client.del("many")
    client.rpush("many", "a")
    wait = -> {}
    reads = cached(redis(middlewares: [Gate], custom: { gate: -> { wait.call } }))
    wait = -> { until_true("all join") { reads.stats[:joined] == 49 } }
    # Nothing is heard yet.
    pages = simultaneously(50) { reads.json.lrange("many", 0, -1) }

    assert_equal '["a"]', pages[0].text
    assert_equal 1, pages.uniq(&:object_id).size
    assert_equal [1, 0], reads.stats.values_at(:sent, :memory_hits)
    client.del("many")
  end

  somewhere "threads that read different keys of one RedisClient at once" do
    client = redis_client
    20.times { |number| client.call("SET", "threads:#{number}", number) }
    reads = cached(client, max_staleness: 0)
    all = simultaneously(20) { |number| Array.new(5) { reads.call("GET", "threads:#{number}") } }

    assert_equal Array.new(20) { |number| [number.to_s] * 5 }, all
  end

  somewhere "what it was told to forget is read anew" do
    client = redis
    reads = cached(client, max_staleness: "10s")
    keeping(reads) { reads.get("own") }
    20.times do |number|
      client.set("own", number)
      reads.forget("own")

      assert_equal number.to_s, reads.get("own")
    end
  end

  somewhere "two processes share what they read" do
    client = redis
    client.set("shared", "1")
    reads = cached_on_host(client)
    keeping(reads) { reads.get("shared") }
    said = said_by(*child do |say|
      other = cached_on_host(Redis.new(port: @port))
      other.get("shared")
      say.call(other.stats.values_at(:host_hits, :sent).inspect)
    end)

    assert_equal "[1, 0]\n", said
  end

  somewhere "a fork goes on reading, and its parent" do
    client = redis
    client.set("forked", "1")
    reads = cached(client, max_staleness: "2s")
    on_host = cached_on_host(client, max_staleness: "2s")
    all = [reads, on_host]
    all.each { |one| keeping(one) { one.get("forked") } }
    said = said_by(*child do |say|
      all.each do |one|
        keeping(one) { one.get("forked") }
        plain("SET", "forked", "2")
        until_true("the child hears") { one.get("forked") == "2" }
        keeping(one) { one.get("forked") }
        plain("SET", "forked", "1")
        until_true("the child hears again") { one.get("forked") == "1" }
      end
      say.call("fine")
    end)

    assert_equal "fine\n", said
    plain("SET", "forked", "3")
    all.each { |one| until_true("the parent hears") { one.get("forked") == "3" } }
  end

  somewhere "a fork does not wait for threads that it does not have" do
    client = redis
    reads = cached(client)
    keeping(reads) { reads.get("a") }
    client.client(:pause, 300, :all)
    thread = Thread.new { reads.get("b") }
    until_true("a read is under way") { reads.stats[:sent] >= 1 && thread.status == "sleep" }
    said = said_by(*child { |say| say.call(reads.get("b").inspect) })

    assert_equal "nil\n", said
    assert_nil thread.value
  end

  somewhere "the process that listens for the host is killed" do
    client = redis
    client.set("led", "first")
    pid, from_child = child do |say|
      leader = cached_on_host(Redis.new(port: @port), max_staleness: "2s")
      keeping(leader) { leader.get("led") }
      say.call("leads")
      sleep
    end

    assert_equal "leads\n", from_child.gets
    reads = cached_on_host(client, max_staleness: "2s")
    keeping(reads) { reads.get("led") }
    Process.kill("KILL", pid)
    Process.wait(pid)
    client.set("led", "second")
    until_true("the write is shown") { reads.get("led") == "second" }
    keeping(reads) { reads.get("led") }
    plain("SET", "led", "third")
    until_true("the next one, too") { reads.get("led") == "third" }
  end

  somewhere "a thread that is killed in the middle of a read leaves nothing behind" do
    client = redis
    reads = cached_on_host(client)
    keeping(reads) { reads.get("a") }
    client.set("killed", "1")
    client.client(:pause, 200, :all)
    sent = reads.stats[:sent]
    thread = Thread.new { reads.get("killed") }
    until_true("it is sent") { reads.stats[:sent] > sent }
    thread.kill.join

    assert_equal "1", reads.get("killed")
    keeping(reads) { reads.get("killed") }
  end

  somewhere "an error that is a thread's own fails no other's read" do
    limit = Class.new(StandardError)
    client = redis
    client.set("limited", "1")
    [[cached(client), :get], [cached(redis_client), :call, "GET"]].each do |reads, *call|
      keeping(reads) { reads.public_send(*call, "other") }
      sent, joined = reads.stats.values_at(:sent, :joined)
      client.client(:pause, 200, :all)
      thread = Thread.new { reads.public_send(*call, "limited") }
      until_true("it is sent") { reads.stats[:sent] > sent }
      other = Thread.new { reads.public_send(*call, "limited") }
      until_true("the other waits for it") { reads.stats[:joined] > joined }
      thread.report_on_exception = false
      # As Timeout.timeout does with a class.
      thread.raise(limit)

      assert_raises(limit) { thread.value }
      assert_equal "1", other.value
    end
  end

  somewhere "a thread in a transaction waits for none that waits for it" do
    client = redis
    client.set("held", "1")
    reads = cached(client)
    keeping(reads) { reads.get("other") }
    sent = reads.stats[:sent]
    other = nil
    replies = client.multi do |transaction|
      other = Thread.new { reads.get("held") }
      until_true("the other is under way") { reads.stats[:sent] > sent }
      transaction.set("copy", reads.get("held"))
    end

    assert_equal ["OK"], replies
    assert_equal "1", other.value
  end

  def test_without_a_server
    reads = cached(kept(Redis.new(port: Servers.free_port, reconnect_attempts: 0)))

    assert_raises(Redis::CannotConnectError) { reads.get("a") }
    other = cached(kept(RedisClient.new(port: Servers.free_port, reconnect_attempts: 0)))

    assert_raises(RedisClient::CannotConnectError) { other.call("GET", "a") }
  end

  def test_a_server_that_goes_away
    skip "no redis-server here" if Servers::PROGRAMS.empty?
    pid = own_server
    client = redis(reconnect_attempts: 0)
    client.set("a", "1")
    reads = cached(client, max_staleness: "100ms", timeout: "250ms")
    keeping(reads) { reads.get("a") }
    end_of(pid)
    until_true("what was kept is too old") do
      reads.get("a")
      false
    rescue Redis::BaseConnectionError
      true
    end
    assert_raises(Redis::BaseConnectionError) { reads.get("b") }
  end

  somewhere "errors of the read are the client's" do
    client = redis
    client.del("wrong")
    client.hset("wrong", "a", 1)
    reads = cached(client)
    # Before the server is heard, and after that.
    assert_wrong_type(client, reads)
    keeping(reads) { reads.get("other") }
    assert_wrong_type(client, reads)
    bare = redis_client
    calls = cached(bare)

    assert_equal assert_raises(RedisClient::WrongTypeError) { bare.call("GET", "wrong") }.message,
                 assert_raises(RedisClient::WrongTypeError) { calls.call("GET", "wrong") }.message
  end

  def assert_wrong_type(client, reads)
    expected = assert_raises(Redis::CommandError) { client.get("wrong") }
    error = assert_raises(Redis::CommandError) { reads.get("wrong") }

    assert_equal [expected.class, expected.message], [error.class, error.message]
  end

  def test_hashes_whose_fields_may_expire_are_not_kept
    program = "redis-server-8"
    skip "no Redis 8 here" unless Servers::PROGRAMS.include?(program)
    @port = Servers.port(program)
    client = redis
    client.del("h")
    client.hset("h", { a: 1, b: 2 })
    reads = cached(client, max_staleness: "10s")
    keeping(reads) { reads.hgetall("h") }
    client.call("HPEXPIRE", "h", 200, "FIELDS", 1, "a")
    until_true("the field is gone") { !reads.hgetall("h").key?("a") }
    client.call("HPEXPIRE", "h", 100_000, "FIELDS", 1, "b")
    refused = reads.stats[:uncached][:refused]
    until_true("a reply is not kept") do
      reads.hgetall("h")
      reads.stats[:uncached][:refused] > refused
    end
    client.del("h")
  end

  everywhere "more keys than are kept as one are read, and not kept" do
    redis.set("k1024", "the last one")
    reads = cached(redis)
    keys = Array.new(1025) { |number| "k#{number}" }
    keeping(reads) { reads.mget(*keys.first(1024)) }
    refused = reads.stats[:uncached][:refused]
    [1, 2].each do |times|
      found = reads.mget(*keys)
      assert_equal [1025, "the last one"], [found.size, found.last]
      assert_equal found, JSON.parse(reads.json.mget(*keys).bytes)
      assert_equal refused + (2 * times), reads.stats[:uncached][:refused]
    end
    redis.set("k1024", "another one")
    assert_equal "another one", reads.mget(*keys).last
  end

  somewhere "memory has bounds" do
    client = redis
    20.times { |number| client.set("bound:#{number}", "x" * 1000) }
    %w[2q-clock lru].each do |policy|
      reads = cached(client, memory: { max_entries: 4, policy: policy })
      keeping(reads) { reads.get("bound:0") }
      20.times { |number| reads.get("bound:#{number}") }
      hits = reads.stats[:memory_hits]
      20.times { |number| reads.get("bound:#{number}") }

      assert_operator reads.stats[:memory_hits] - hits, :<=, 4
    end
  end

  somewhere "closed reads" do
    reads = cached(redis)
    keeping(reads) { reads.get("a") }
    reads.close

    assert_raises(Polycache::Closed) { reads.get("a") }
    reads.close
  end

  # The module JSON answers JSON.GET with a text. So does a server whose GET is called that.
  def test_the_json_of_a_document_is_its_text
    own_server("--rename-command", "GET", "JSON.GET")
    client = redis
    reads = cached_on_host(client)
    other = cached_on_host(redis)
    document = ->(by) { by.json.call("JSON.GET", "doc").bytes.dup.force_encoding("UTF-8") }

    assert_equal "null", document.call(reads)
    [%({"a": [1.50, "ü"],\n "a": 2}), "[]"].each do |text|
      client.set("doc", text)
      until_true("it is shown") { document.call(reads) == text }
      keeping(reads) { document.call(reads) }

      assert_equal [text] * 3,
                   [reads.call("json.get", "doc"), document.call(reads), document.call(other)]
    end
  end

  somewhere "a cache that is open already" do
    cache = open_host
    reads = Polycache.cached(redis, cache)
    keeping(reads) { reads.get("a") }
    reads.close

    refute_predicate cache, :closed?
    local = Polycache::Cache.new
    error = assert_raises(Polycache::InvalidArgument) { Polycache.cached(redis, local) }
    assert_match(/remote/, error.message)
  end

  private

  # @return [Array] what each thread's block returned, all of which began together
  def simultaneously(count)
    gate = Queue.new
    threads = Array.new(count) do |number|
      Thread.new do
        gate.pop
        yield number
      end
    end
    count.times { gate << true }
    threads.map(&:value)
  end
end
