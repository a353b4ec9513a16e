# frozen_string_literal: true

# What every server answers: the stream's entries, and when reading them began and ended.

KEY = "OPTIONS:test:STREAM"

def milliseconds = Process.clock_gettime(Process::CLOCK_REALTIME, :millisecond)

# Of a reading that ends now. Times are in ms since 1970.
def times(start)
  ends = milliseconds
  date = Time.at(0, ends, :millisecond, in: "UTC").strftime("%Y-%m-%dT%H:%M:%S.%LZ")
  { start:, end: ends, endDate: date }
end

# The block returns the entries in the shape that redis-rb gives them: [id, { field => value }],
# 41,714 bytes of JSON.
def answer
  start = milliseconds
  value = yield
  { value:, **times(start) }
end
