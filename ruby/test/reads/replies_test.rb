# frozen_string_literal: true

require_relative "helper"

# What is handed out is what the client gives: from the server, from memory, and from the host.
class RepliesOfReadsTest < Minitest::Test
  include ReadsOnServers

  CALLS = [
    [:xrange, "k:x"], [:xrange, "k:x", "-", "+", { count: 2 }], [:xrevrange, "k:x", "+", "-"],
    [:xlen, "k:x"], [:xread, "k:x", "0", { count: 2 }], [:xread, %w[k:x k:y], %w[0 0]],
    [:hgetall, "k:h"], [:hgetall, "k:none"], [:hget, "k:h", "b"], [:hget, "k:h", :b],
    [:hmget, "k:h", "a", "none"], [:mapped_hmget, "k:h", "a"], [:mapped_hmget, "k:h", :a],
    [:hkeys, "k:h"], [:hvals, "k:h"], [:hlen, "k:h"], [:hexists, "k:h", "a"],
    [:lrange, "k:l", 0, -1], [:lindex, "k:l", 1], [:llen, "k:l"],
    [:zrange, "k:z", 0, -1], [:zrange, "k:z", 0, -1, { with_scores: true }],
    [:zrange, "k:z", "[a", "[b", { by_lex: true }], [:zrevrange, "k:z", 0, -1],
    [:zrangebyscore, "k:z", "-inf", "+inf", { withscores: true, limit: [0, 2] }],
    [:zrevrangebyscore, "k:z", "+inf", "-inf"], [:zrangebylex, "k:z", "-", "+"],
    [:zrevrangebylex, "k:z", "+", "-"], [:zscore, "k:z", "c"], [:zscore, "k:z", "none"],
    [:zmscore, "k:z", "a", "none"], [:zrank, "k:z", "b"], [:zrevrank, "k:z", "b"],
    [:zcard, "k:z"], [:zcount, "k:z", 1, 2], [:zlexcount, "k:z", "-", "+"],
    [:zdiff, "k:z", "k:z2"], [:zinter, "k:z", "k:z2", { with_scores: true }],
    [:zunion, "k:z", "k:z2"], [:smembers, "k:s"], [:sismember, "k:s", "m"],
    [:smismember, "k:s", "m", "n"], [:scard, "k:s"], [:sdiff, "k:s", "k:s2"],
    [:sinter, "k:s", "k:s2"], [:sunion, "k:s", "k:s2"], [:get, "k:t"], %i[get k:t],
    [:get, "k:none"], [:get, "k:bytes"], [:mget, "k:t", "k:none"], [:mapped_mget, "k:t", "k:none"],
    %i[mapped_mget k:t], [:strlen, "k:t"], [:getrange, "k:t", 0, 1], [:getbit, "k:t", 3],
    [:bitcount, "k:t"], [:bitpos, "k:t", 1], [:exists, "k:t", "k:none"], [:exists?, "k:none"],
    [:type, "k:t"], [:dump, "k:t"], [:pfcount, "k:p"], [:geohash, "k:g", "Palermo"],
    [:geopos, "k:g", "Palermo"], [:geodist, "k:g", "Palermo", "Catania"],
    [:call, "LRANGE", "k:l", 0, -1], [:call, "BITFIELD_RO", "k:t", "GET", "u8", 0],
    [:call, "EVAL_RO", "return {redis.call('get', KEYS[1]), ARGV[1], 7, false}", 1, "k:t", "x"],
    [:call, "GEOSEARCH", "k:g", "FROMMEMBER", "Palermo", "BYRADIUS", 200, "km"],
    [:call, "LCS", "k:t", "k:t2"], [:call, "LPOS", "k:l", "b"], [:call, "HSTRLEN", "k:h", "a"],
    [:call, "SINTERCARD", 2, "k:s", "k:s2"], [:call, "ZINTERCARD", 2, "k:z", "k:z2"],
    [:call, "SORT_RO", "k:l", "ALPHA"], [:call, "SUBSTR", "k:t", 0, 1],
    [:call, "GEORADIUS_RO", "k:g", 15, 37, 200, "km"],
    [:call, "GEORADIUSBYMEMBER_RO", "k:g", "Palermo", 200, "km"]
  ].freeze

  def fill(client)
    keys = client.keys("k:*")
    client.del(*keys) if keys.any?
    %w[one two three].each { |name| client.xadd("k:x", { name: name, n: 1 }) }
    client.xadd("k:y", { a: 1 })
    client.hset("k:h", { "a" => "1", "b" => "zwei", "ü" => "ö" })
    client.rpush("k:l", %w[a b c])
    client.zadd("k:z", [[1, "a"], [2.5, "b"], ["+inf", "c"]])
    client.zadd("k:z2", [[3, "a"]])
    client.sadd("k:s", "m")
    client.sadd("k:s2", %w[m o])
    client.mset("k:t", "text", "k:t2", "taxi", "k:bytes", "\xFF\x00".b)
    client.pfadd("k:p", %w[a b])
    # The first one writes what it has counted.
    client.pfcount("k:p")
    client.geoadd("k:g", 13.361389, 38.115556, "Palermo", 15.087269, 37.502669, "Catania")
  end

  def call(client, method, words)
    options = words.last.is_a?(Hash) ? words.last : {}
    client.public_send(method, *words.grep_v(Hash), **options)
  end

  everywhere "redis-rb" do
    client = redis
    fill(client)
    reads = cached_on_host(client)
    other = cached_on_host(redis)
    keeping(reads) { reads.get("k:t") }
    CALLS.each do |method, *words|
      what = "#{method} #{words}"
      expected = call(client, method, words)
      first = call(reads, method, words)

      assert_same_reply(expected, first, what)
      sent = reads.stats[:sent]

      assert_same(first, call(reads, method, words), what) unless first.is_a?(Float)
      hits = other.stats[:host_hits]

      assert_same_reply(expected, call(other, method, words), what)
      assert_equal [sent, hits + 1], [reads.stats[:sent], other.stats[:host_hits]], what
    end
  end

  def test_every_method_of_redis_rb_that_reads_is_among_them
    reads = JSON.parse(File.read(File.expand_path("../../../spec/reads.json", __dir__)))["reads"]
    methods = Redis::Commands.public_instance_methods.select do |method|
      reads.include?(method.name.delete_prefix("mapped_").delete_suffix("?").upcase)
    end

    assert_empty methods - CALLS.map(&:first)
    # With scripts, whose names are made by the server, and modules, which are not installed.
    named = CALLS.map { |method, word| method == :call ? word : method.name.upcase }

    assert_empty reads - named - %w[EVALSHA_RO JSON.GET]
  end

  [2, 3].each do |protocol|
    everywhere "redis-client with RESP#{protocol}" do
      fill(redis)
      client = redis_client(protocol: protocol)
      reads = cached_on_host(client)
      other = cached_on_host(redis_client(protocol: protocol))
      keeping(reads) { reads.call("GET", "k:t") }
      [
        ["XRANGE", "k:x", "-", "+"], ["XREAD", "STREAMS", "k:x", "0"], ["HGETALL", "k:h"],
        ["ZRANGE", "k:z", 0, -1, "WITHSCORES"], ["ZSCORE", "k:z", "c"], ["SMEMBERS", "k:s"],
        ["MGET", "k:t", "k:none"], ["SISMEMBER", "k:s", "m"], ["GET", :"k:bytes"]
      ].each do |words|
        expected = client.call(*words)

        assert_same_reply(expected, reads.call(*words), words)
        assert_same(reads.call(*words), reads.call_v(words)) if words[0] == "none"
        hits = other.stats[:host_hits]

        assert_same_reply(expected, other.call(*words), words)
        assert_equal hits + 1, other.stats[:host_hits], words
        assert_same_reply(expected, other.call_v(words), words)
      end
      assert_equal client.call("ZRANGE", "k:z", 0, 1, withscores: true),
                   reads.call("ZRANGE", "k:z", 0, 1, withscores: true)
    end
  end

  somewhere "isolation" do
    client = redis
    fill(client)
    frozen = cached(client)
    keeping(frozen) { frozen.hgetall("k:h") }
    reply = frozen.xrange("k:x")

    assert Ractor.shareable?(reply)
    copies = cached(client, memory: { isolation: "clone" })
    keeping(copies) { copies.hgetall("k:h") }
    copies.hgetall("k:h")["a"] = "changed"
    copies.xrange("k:x").clear

    assert_equal "1", copies.hgetall("k:h")["a"]
    assert_equal reply, copies.xrange("k:x")
  end

  everywhere "a reply is encoded once" do
    client = redis
    client.del("j")
    client.xadd("j", { a: 1, "ü" => 2.5 }, id: "1-1")
    reads = cached_on_host(client)
    calls = cached_on_host(redis_client)
    keeping(reads) { reads.json.xrange("j", "-", "+") }
    keeping(calls) { calls.json.call("XRANGE", "j", "-", "+") }
    page = reads.json.xrange("j", "-", "+")

    assert_same page, reads.json.xrange("j", "-", "+")
    assert_equal '[["1-1",{"a":"1","ü":"2.5"}]]', page.text
    # As ioredis has it.
    assert_equal '[["1-1",["a","1","ü","2.5"]]]', calls.json.call("XRANGE", "j", "-", "+").text
    assert_equal "null", reads.json.get("none").text
    assert_equal "[2.5]", cached_json_of_score(client, reads)
    assert_raises(Polycache::UncacheableRead) { reads.json.ttl("j") }
    plain("XADD", "j", "2-1", "b", "2")
    until_true("it is another") { reads.json.xrange("j", "-", "+").etag != page.etag }
  end

  private

  def cached_json_of_score(client, reads)
    client.zadd("j:z", 2.5, "a")
    reads.json.zmscore("j:z", "a").text
  ensure
    client.del("j:z")
  end

  # Of the same classes and encodings, too.
  def assert_same_reply(expected, reply, what)
    return assert_nil(reply, what) if expected.nil?

    assert_equal expected, reply, what
    assert_equal kinds(expected), kinds(reply), what
  end

  def kinds(value)
    case value
    when Array then value.map { |one| kinds(one) }
    when Hash then value.map { |pair| kinds(pair) }
    when String then value.encoding
    else value.class
    end
  end
end
