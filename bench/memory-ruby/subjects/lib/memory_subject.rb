# frozen_string_literal: true

require "subject"

# What every subject does: hits, misses, sets of keys that are there, and sets of new keys in a full
# cache, each in turn. A subject says how its cache is made, read and written.
class MemorySubject
  KEYS = 1000
  MOST = 10_000
  VALUES = {
    "text" => "x" * 100,
    "hash" => {
      "id" => 1, "name" => "Ada Lovelace", "email" => "ada@example.com", "score" => 1.5,
      "tags" => %w[a b c]
    },
    "list" => Array.new(100) { |number| { "id" => number, "name" => "name #{number}" } }
  }.freeze
  # Operations between two looks at the time.
  STRIDE = 20

  def initialize(values:, directory:, **)
    @value = VALUES.fetch(values)
    @directory = directory
    @cache = make(MOST)
    @full = make(KEYS)
    @keys = Array.new(KEYS) { |number| "key:#{number}".freeze }
    @absent = Array.new(KEYS) { |number| "absent:#{number}".freeze }
    @keys.each { |key| write(@cache, key, @value) }
    @new = 0
    (2 * KEYS).times { write(@full, "new:#{@new += 1}", @value) }
  end

  def notes = []
  def close = nil

  def operations
    {
      "get" => ["", ->(seconds) { timed(seconds) { |at| read(@cache, @keys[at]) } }],
      "get, miss" => ["", ->(seconds) { timed(seconds) { |at| read(@cache, @absent[at]) } }],
      "set" => ["", ->(seconds) { timed(seconds) { |at| write(@cache, @keys[at], @value) } }],
      "set, full" => ["", lambda { |seconds|
                            timed(seconds) do
                              write(@full, "new:#{@new += 1}", @value)
                            end
                          }]
    }
  end

  def check
    raise "it reads something else" unless @keys.all? { |key| read(@cache, key) == @value }
    raise "it reads what was not written" unless read(@cache, @absent[0]).nil?
  end

  private

  # Nanoseconds that a turn takes.
  def timed(seconds)
    turns = 0
    from = now
    till = from + (seconds * 1e9)
    while now < till
      STRIDE.times do
        yield turns % KEYS
        turns += 1
      end
    end
    (now - from).fdiv(turns)
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
end
