# frozen_string_literal: true

require "subject"
require "canned_connection"
require "dataset"
require "measure"

# What every subject shares. Its file says what it is called and how it connects:
#   name, versions
#   sits_on                    what is below it
#   prefixes?                  false where the caller has to name the keys in full
#   commands(options, data)    RedisClientCommands or RedisRbCommands, connected with the options
class NamespaceSubject
  # Operations whose replies some client changes in place: redis-client-namespace strips prefixes
  # from the strings themselves, redis-rb fills a transaction's list with what its callers expect.
  CHANGED_IN_PLACE = ["KEYS", "MULTI/EXEC"].freeze

  attr_reader :namespace

  # `operations` are asked for by name, all where there are none; `measure` is one of
  # Measure::UNITS.
  def initialize(redis_port:, measure:, operations:, **)
    raise "there is no redis-server here" if redis_port.zero?

    @port = redis_port
    @measure = measure
    # Of the same length for all, so that all put the same number of bytes on the wire.
    @namespace = format("app%07d", Process.pid)
    @data = Dataset.new(prefixes? ? "" : "#{namespace}:")
    options = { host: "127.0.0.1", port: redis_port }
    options[:driver] = CannedConnection if client_alone?
    @commands = commands(options, @data)
    @all = @commands.operations
    @asked = operations.empty? ? @all.keys : operations
  end

  def operations
    @asked.to_h do |name|
      [name, [Measure::UNITS.fetch(@measure), ->(seconds) { round(name, seconds) }]]
    end
  end

  def notes
    [(prefixes? ? "writes the prefix" : "no namespace: the caller writes the prefix"),
     "on #{sits_on}"]
  end

  def check
    @commands.prepare
    @all.each { |name, operation| compare(name, "the server's", operation.call) }
    look
    record if client_alone?
  end

  def close
    connection&.play(nil)
    @commands.close
  end

  private

  def client_alone? = @measure != "rate"

  def connection = CannedConnection.current

  def round(name, seconds)
    if client_alone?
      connection.play(@recorded.fetch(name), fresh: CHANGED_IN_PLACE.include?(name))
    elsif name == "LPUSH"
      @commands.trim
    end
    Measure.public_send(@measure, @all.fetch(name), seconds)
  end

  # A connection without any namespace sees every key under the prefix, with its value, and none
  # without it.
  def look
    bare = RedisClient.new(host: "127.0.0.1", port: @port)
    full = Dataset.new("#{namespace}:")
    same("keys on the server", bare.call("KEYS", "#{namespace}*").sort, full.keys.sort)
    same("keys without prefix", bare.call("EXISTS", *Dataset.new("").keys), 0)
    same("a value on the server", bare.call("GET", full.key), Dataset::STRING)
    same("values on the server", bare.call("MGET", *full.users), Dataset::TEN)
    same("a list on the server", bare.call("LRANGE", full.list, 0, -1), Dataset::ITEMS)
  ensure
    bare&.close
  end

  # Keeps what the server says to each operation, and sees that it means the same when it is played.
  def record
    @recorded = @all.to_h do |name, operation|
      @commands.trim
      # Frozen to the last string: a client that changes it errs, instead of being measured with
      # another reply the next time.
      [name, Ractor.make_shareable(connection.record(&operation))]
    end
    @recorded.each do |name, replies|
      connection.play(replies, fresh: CHANGED_IN_PLACE.include?(name))
      2.times { compare(name, "the canned", @all.fetch(name).call) }
    end
  ensure
    connection.play(nil)
  end

  def compare(name, whose, found)
    expected = @data.expected.fetch(name)
    found, expected = [found, expected].map(&:sort) if Dataset::UNORDERED.include?(name)
    same("#{whose} reply to #{name}", found, expected)
  end

  def same(what, found, expected)
    raise "#{what}: #{found.inspect} is not #{expected.inspect}" unless found == expected
  end
end
