# frozen_string_literal: true

require_relative "helper"

# Subscriptions of redis-client, with a live server.
class SubscribingTest < Minitest::Test
  include Namespaced

  def setup
    super
    @shop = client
    @pubsub = @shop.pubsub
  end

  def teardown
    @pubsub&.close
    super
  end

  def test_a_channel
    assert_equal ["subscribe", "c", 1], told("SUBSCRIBE", "c")
    assert_equal 1, @shop.call("PUBLISH", "c", "shop:m")
    assert_equal ["message", "c", "shop:m"], @pubsub.next_event(5)
    assert_equal 0, bare.call("PUBLISH", "c", "m")
    assert_equal 1, bare.call("PUBLISH", "shop:c", "m")
    assert_equal %w[message c m], @pubsub.next_event(5)
    assert_equal ["unsubscribe", "c", 0], told("UNSUBSCRIBE", "c")
  end

  # Its reply would come as an event, which says not what it answers.
  def test_other_commands_are_refused
    assert_raises(Polycache::CommandNotAllowed) { @pubsub.call("KEYS", "*") }
    assert_raises(Polycache::CommandNotAllowed) { @pubsub.call("MULTI") }
    assert_raises(Polycache::CommandNotAllowed) { @pubsub.call("GET", "a") }
    assert_equal "PONG", told("PING")
  end

  def test_nobody_is_told_through_the_servers_own_channels
    assert_equal ["subscribe", "__keyevent@0__:custom", 1],
                 told("SUBSCRIBE", "__keyevent@0__:custom")
    assert_raises(Polycache::InvalidArgument) do
      @shop.call("PUBLISH", "__keyevent@0__:custom", "k")
    end
    assert_raises(Polycache::InvalidArgument) { @shop.call("PUBLISH", "__redis__:invalidate", "k") }
  end

  def test_a_pattern
    assert_equal ["psubscribe", "n.*", 1], told("PSUBSCRIBE", "n.*")
    @shop.call("PUBLISH", "n.1", "m")

    assert_equal %w[pmessage n.* n.1 m], @pubsub.next_event(5)
  end

  def test_a_shard_channel
    assert_equal ["ssubscribe", "c", 1], told("SSUBSCRIBE", "c")
    @shop.call("SPUBLISH", "c", "m")

    assert_equal %w[smessage c m], @pubsub.next_event(5)
  end

  def test_who_listens
    told("SUBSCRIBE", "c")

    assert_equal ["c"], @shop.call("PUBSUB", "CHANNELS")
    assert_empty client("other").call("PUBSUB", "CHANNELS")
    assert_includes [{ "c" => 1 }, ["c", 1]], @shop.call("PUBSUB", "NUMSUB", "c")
  end

  def test_notifications_of_a_key
    told("SUBSCRIBE", "__keyspace@0__:a")
    bare.call("SET", "a", 1)
    @shop.call("SET", "a", 1)

    assert_equal ["message", "__keyspace@0__:a", "set"], @pubsub.next_event(5)
    assert_nil @pubsub.next_event(0.05)
  end

  def test_notifications_of_an_event_leave_out_what_others_do
    told("PSUBSCRIBE", "__keyevent@*__:set")
    bare.call("SET", "other", 1)
    bare.call("SET", "shopping:a", 1)
    @shop.call("SET", "a", 1)

    assert_equal ["pmessage", "__keyevent@*__:set", "__keyevent@0__:set", "a"],
                 @pubsub.next_event(5)
    bare.call("SET", "other", 2)

    assert_nil @pubsub.next_event(0.05)
  end

  def test_invalidations
    id = @shop.pubsub.then do |pubsub|
      @listening = pubsub
      pubsub.call("CLIENT", "ID")
      pubsub.next_event(5)
    end
    @listening.call("SUBSCRIBE", "__redis__:invalidate")
    @listening.next_event(5)
    @shop.call("CLIENT", "TRACKING", "on", "REDIRECT", id, "BCAST", "PREFIX", "u")
    bare.call("SET", "shop:v", 1)
    bare.call("SET", "shop:u1", 1)

    assert_equal ["u1"], @listening.next_event(5).last
    @listening.close
  end

  private

  def told(*command)
    @pubsub.call(*command)
    @pubsub.next_event(5)
  end
end

Servers.others { |program| SubscribingTest.on(program) }
