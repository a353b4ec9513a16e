# frozen_string_literal: true

require "redis-client"

# How the socket is taken out, for the cost of the client alone. It is a driver of redis-client, on
# which redis-rb 5 and redis-namespace sit as well, so it is one and the same for all. At first it
# talks to the server as the usual driver does, and keeps the replies. After `play` nothing is
# encoded, written or parsed any more: a command goes nowhere, and the same replies come back.
class CannedConnection < RedisClient::RubyConnection
  class << self
    # The one connection of this process.
    attr_reader :current

    private

    attr_writer :current
  end

  def initialize(...)
    super
    self.class.__send__(:current=, self)
  end

  # The replies that the block's commands get from the server.
  def record
    @recorded = []
    yield
    @recorded
  ensure
    @recorded = nil
  end

  # Answers with these, in turn, from now on; with nil it talks again. A list that some client
  # changes in place must be `fresh` each time, at the cost of a copy.
  def play(replies, fresh: false)
    @replies = replies
    @fresh = fresh
    @next = 0
  end

  def write(command)
    super unless @replies
  end

  def write_multi(commands)
    super unless @replies
  end

  def read(timeout = nil)
    return canned if @replies

    reply = super
    @recorded&.push(Marshal.load(Marshal.dump(reply)))
    reply
  end

  private

  def canned
    reply = @replies[@next]
    @next += 1
    @next = 0 if @next == @replies.size
    @fresh && reply.is_a?(Array) ? reply.map(&:dup) : reply
  end
end
