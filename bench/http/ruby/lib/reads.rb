# frozen_string_literal: true

# Cached reads of the stream: its JSON, encoded once for each change of it, and kept coherent by the
# listener.

# First: it says where redis-rb lies.
require_relative "redisrb"
require "polycache/reads"

# What reads the stream's JSON, once this host hears of its changes.
def cached_reader
  reads = Polycache.cached(connect, path: ENV.fetch("CACHE_DIRECTORY"))
  read = -> { reads.json.xrange(KEY, "-", "+") }
  while reads.stats[:memory_hits].zero?
    read.call
    sleep 0.005
  end
  read
end

# The page's answer around it, whose bytes are not touched.
def answer_around(read)
  start = milliseconds
  value = read.call
  value.within("value", times(start), incidental: true)
end
