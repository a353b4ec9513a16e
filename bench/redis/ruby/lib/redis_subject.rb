# frozen_string_literal: true

require "json"
require "subject"

# What the Ruby subjects share: the operations of lib/workloads.mjs.
class RedisSubject
  HOUR = 3600
  SMALL = {
    "id" => 123, "name" => "John Doe", "email" => "john@example.com", "created" => 1_763_757_115_000
  }.freeze
  LARGE = {
    "id" => 123, "name" => "John Doe", "email" => "john@example.com",
    "data" => Array.new(100) { { "foo" => "bar", "baz" => "qux" } }
  }.freeze
  VALUES = { "small" => SMALL, "large" => LARGE }.freeze
  # Operations between two looks at the time.
  STRIDE = 10

  def initialize(redis_port:, directory:, kind:, value: "small", **)
    raise "there is no Redis here" if redis_port.zero?

    @kind = kind
    @small = value == "small"
    @value = VALUES.fetch(value)
    open(redis_port, directory)
  end

  def versions = {}

  def check
    check_one
    items = items_of("checked")
    mset(items)
    expect(mget(items.keys) == items, "mget")
    expect(keys("checked").sort == items.keys.sort, "keys")
    mdelete(items.keys)
    expect(keys("checked").empty?, "keys that were deleted are there")
  end

  def operations
    stride = @kind == "batch" ? 1 : STRIDE
    (@kind == "batch" ? batch : one).transform_values do |operation|
      ["", ->(seconds) { timed(seconds, stride, operation) }]
    end
  end

  private

  def expect(holds, what)
    raise what unless holds
  end

  def check_one
    VALUES.each_value do |value|
      set("check", value)
      expect(get("check") == value, "get")
    end
    expect(has("check"), "a key that was set is not there")
    delete("check")
    expect(get("check").nil? && !has("check"), "a deleted key is there")
    set_for("check", SMALL, HOUR)
    expect(ttl("check").between?(HOUR - 60, HOUR), "ttl")
    delete("check")
  end

  def items_of(name) = (0...100).to_h { |number| ["#{name}-#{number}", SMALL.merge("id" => number)] }

  def one
    set("key", @value)
    some = { "SET" => -> { set("key", @value) }, "GET" => -> { get("key") } }
    return some unless @small

    set_for("timed", @value, HOUR)
    some.merge(
      "EXISTS" => -> { has("key") },
      # Sets the key before, as on the page.
      "DELETE" => lambda {
        set("gone", @value)
        delete("gone")
      },
      "SET with TTL" => -> { set_for("timed", @value, HOUR) },
      "TTL" => -> { ttl("timed") }
    )
  end

  def batch
    items = items_of("key")
    gone = items_of("gone")
    mset(items)
    {
      "SET" => -> { mset(items) },
      "GET" => -> { mget(items.keys) },
      # Sets the keys before, as on the page.
      "DELETE" => lambda {
        mset(gone)
        mdelete(gone.keys)
      },
      "KEYS" => -> { keys("key") }
    }
  end

  # Nanoseconds that an operation takes.
  def timed(seconds, stride, operation)
    operation.call
    turns = 0
    from = now
    till = from + (seconds * 1e9)
    while now < till
      stride.times { operation.call }
      turns += stride
    end
    (now - from).fdiv(turns)
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
end
