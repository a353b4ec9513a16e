# frozen_string_literal: true

require_relative "helper"

# The middleware of redis-client, with a live server.
class MiddlewareTest < Minitest::Test
  include Namespaced

  def test_it_loads_nothing_native
    refute defined?(Polycache::Native)
  end

  def test_keys_get_the_prefix_and_lose_it
    shop = client
    shop.call("SET", "a", 1)

    assert_equal ["shop:a"], everything
    assert_equal "1", shop.call("GET", "a")
    assert_equal ["a"], shop.call("KEYS", "*")
  end

  def test_a_key_that_begins_with_the_prefix_is_its_own_key
    shop = client
    shop.call("MSET", "a", 1, "shop:a", 2)

    assert_equal %w[shop:a shop:shop:a], everything
    assert_equal %w[1 2], shop.call("MGET", "a", "shop:a")
    assert_equal %w[a shop:a], shop.call("KEYS", "*").sort
  end

  def test_words_are_as_they_were_after_the_call
    words = %w[MGET a b]
    builder = Module.new do
      define_singleton_method(:generate) do |command, *|
        command == [:same] ? words : command
      end
    end
    options = { port: port, command_builder: builder, middlewares: [Polycache::RedisNamespace],
                custom: { namespace: "shop" } }
    RedisClient.config(**options).new_client.call(:same)

    assert_equal %w[MGET a b], words
  end

  def test_symbols_numbers_and_hashes_are_what_they_are_without_it
    shop = client
    shop.call(:hset, :h, { "f" => 1, g: 2.5 })

    assert_equal({ "f" => "1", "g" => "2.5" }, bare.call("HGETALL", "shop:h"))
  end

  def test_bytes_stay_bytes
    shop = client("ü")
    key = "\xFF\x00é".b
    shop.call("SET", key, "v")

    assert_equal ["ü:".b + key], everything.map(&:b)
    assert_equal "v", shop.call("GET", key)
    assert_equal [key], shop.call("KEYS", "*").map(&:b)
  end

  def test_scan_walks_its_own_namespace
    bare.call("MSET", *(1..300).flat_map { |n| ["other:#{n}", n] })
    shop = client
    shop.call("MSET", *(1..20).flat_map { |n| ["k#{n}", n] })

    assert_equal((1..20).map { |n| "k#{n}" }.sort, shop.scan.to_a.uniq.sort)
    assert_equal ["k7"], shop.scan(match: "k7").to_a.uniq
    shop.call("HSET", "h", "f", 1)

    assert_equal [%w[f 1]], shop.hscan("h").to_a
  end

  def test_glob_characters_of_the_namespace_match_only_themselves
    starred = client("a*b")
    starred.call("SET", "k", 1)
    bare.call("SET", "axxb:k", 2)

    assert_equal ["k"], starred.call("KEYS", "*")
    assert_equal ["k"], starred.scan.to_a
  end

  def test_a_pipeline
    shop = client
    replies = shop.pipelined do |pipeline|
      pipeline.call("SET", "a", 1)
      pipeline.call("KEYS", "*")
      pipeline.call("RPUSH", "l", "x")
      pipeline.blocking_call(1, "BLPOP", "l", 1)
      pipeline.call("GET", "a") { |value| Integer(value) }
    end

    assert_equal ["OK", ["a"], 1, %w[l x], 1], replies
  end

  def test_an_error_in_a_pipeline_names_the_users_own_words
    error = assert_raises(RedisClient::CommandError) do
      client.pipelined do |pipeline|
        pipeline.call("SET", "a", 1).then do
          pipeline.call("LPUSH", "a", 1)
        end
      end
    end

    assert_equal %w[LPUSH a 1], error.command
  end

  def test_a_transaction
    shop = client
    replies = shop.multi do |transaction|
      transaction.call("SET", "a", 1)
      transaction.call("KEYS", "*")
      transaction.call("SCAN", 0)
    end

    assert_equal ["OK", ["a"], ["0", ["a"]]], replies
    assert_equal ["shop:a"], everything
  end

  def test_a_transaction_command_by_command
    shop = client
    shop.call("MULTI")
    shop.call("SET", "a", 1)

    assert_equal "QUEUED", shop.call("KEYS", "*")
    assert_equal ["OK", ["a"]], shop.call("EXEC")
    shop.call("MULTI")
    shop.call("DISCARD")

    assert_equal ["a"], shop.call("KEYS", "*")
  end

  def test_a_watched_key
    shop = client
    shop.call("SET", "a", 1)
    replies = shop.multi(watch: ["a"]) do |transaction|
      bare.call("SET", "shop:a", 2)
      transaction.call("INCR", "a")
    end

    assert_nil replies
    assert_equal "2", shop.call("GET", "a")
  end

  def test_streams
    shop = client
    id = shop.call("XADD", "s", "*", "f", "v")
    shop.call("XGROUP", "CREATE", "s", "streams", "0")
    entries = [[id, %w[f v]]]

    assert_equal({ "s" => entries }, shop.call("XREAD", "STREAMS", "s", "0"))
    assert_equal({ "s" => entries },
                 shop.call("XREADGROUP", "GROUP", "streams", "store", "STREAMS", "s", ">"))
    assert_equal 1, shop.call("XACK", "s", "streams", id)
  end

  def test_pops_name_the_key
    shop = client
    shop.call("RPUSH", "l", 1, 2, 3)
    shop.call("ZADD", "z", 1, "a", 2, "b")

    assert_equal %w[l 1], shop.blocking_call(1, "BLPOP", "none", "l", 1)
    assert_equal ["l", %w[2]], shop.call("LMPOP", 2, "none", "l", "LEFT")
    assert_equal ["z", [["a", 1.0]]], shop.call("ZMPOP", 1, "z", "MIN")
    assert_equal ["z", "b", 2.0], shop.blocking_call(1, "BZPOPMAX", "z", 1)
    assert_nil shop.call("LMPOP", 1, "none", "LEFT")
  end

  def test_a_script_gets_its_keys
    shop = client

    assert_equal "OK", shop.call("EVAL", "return redis.call('SET', KEYS[1], ARGV[1])", 1, "a", "b")
    assert_equal ["shop:a"], everything
  end

  def test_whole_database_commands_stay_inside
    shop = client
    other = client("shopping")
    shop.call("MSET", "a", 1, "b", 2)
    other.call("SET", "c", 3)
    bare.call("SET", "d", 4)

    assert_equal [2, 1], [shop.call("DBSIZE"), other.call("DBSIZE")]
    20.times { assert_includes %w[a b], shop.call("RANDOMKEY") }
    assert_equal "OK", shop.call("FLUSHDB")
    assert_equal %w[d shopping:c], everything
    assert_nil shop.call("RANDOMKEY")
    assert_equal 0, shop.call("DBSIZE")
  end

  def test_they_do_not_go_into_a_pipeline
    assert_raises(Polycache::CommandNotAllowed) do
      client.pipelined do |pipeline|
        pipeline.call("FLUSHDB")
      end
    end
    assert_raises(Polycache::CommandNotAllowed) do
      client.multi do |transaction|
        transaction.call("DBSIZE")
      end
    end
  end

  def test_a_large_namespace_is_removed_batch_by_batch
    shop = client
    (1..5000).each_slice(500) { |some| shop.call("MSET", *some.flat_map { |n| [n, n] }) }
    bare.call("SET", "other", 1)
    shop.call("FLUSHDB", "ASYNC")

    assert_equal ["other"], everything
  end

  def test_unknown_commands_are_refused_and_can_be_allowed
    error = assert_raises(Polycache::UnknownCommand) { client.call("JSON.GET", "doc") }

    assert_includes error.message, "allow"
    assert_empty everything
    allowing = client(commands: { "JSON.GET" => [["key", 1, 1, 1]] })
    answer = assert_raises(RedisClient::CommandError) { allowing.call("JSON.GET", "doc") }

    assert_includes answer.message, "unknown command"
    assert_equal %w[JSON.GET doc], answer.command
  end

  def test_commands_of_the_whole_server_are_refused_and_can_be_allowed
    assert_raises(Polycache::CommandNotAllowed) { client.call("FLUSHALL") }
    assert_raises(Polycache::CommandNotAllowed) { client.call("config", "get", "maxmemory") }
    assert_kind_of Hash, client(allow: ["CONFIG GET"]).call("CONFIG", "GET", "maxmemory")
    assert_kind_of Hash, client(allow: ["config"]).call("CONFIG", "GET", "maxmemory")
    assert_equal "OK", client(allow: ["FLUSHALL"]).call("FLUSHALL")
  end

  def test_namespaces_nest
    inner = client(%w[shop eu])
    inner.call("SET", "a", 1)

    assert_equal ["shop:eu:a"], everything
    assert_equal ["a"], inner.call("KEYS", "*")
    assert_equal ["eu:a"], client.call("KEYS", "*")
  end

  def test_a_namespace_that_is_asked_for
    tenant = "a"
    shop = client(-> { tenant })
    shop.call("SET", "k", 1)
    tenant = "b"
    shop.call("SET", "k", 2)

    assert_equal %w[a:k b:k], everything
    assert_equal "2", shop.call("GET", "k")
    assert_equal ["k"], shop.call("KEYS", "*")
  end

  def test_nothing_is_sent_without_a_name
    assert_raises(Polycache::InvalidArgument) { client(-> {}).call("SET", "k", 1) }
    [nil, "", [], 5].each do |none|
      assert_raises(Polycache::InvalidArgument, none.inspect) do
        client(none).call("PING")
      end
    end
    assert_empty everything
  end

  def test_a_pool
    config = RedisClient.config(port: port, middlewares: [Polycache::RedisNamespace],
                                custom: { namespace: "shop" })
    pool = config.new_pool(size: 4)
    threads = Array.new(8) { |n| Thread.new { 200.times { |k| pool.call("SET", "#{n}-#{k}", k) } } }
    threads.each(&:join)

    assert_equal 1600, pool.call("DBSIZE")
    assert(everything.all? { |key| key.match?(/\Ashop:\d-\d+\z/) })
  end

  def test_a_fork
    shop = client
    shop.call("SET", "a", 1)
    child = fork { exit!(shop.call("INCR", "a") == 2) }
    _, status = Process.wait2(child)

    assert_predicate status, :success?
    assert_equal ["shop:a"], everything
    assert_equal "2", shop.call("GET", "a")
  end
end

Servers.others { |program| MiddlewareTest.on(program) }
