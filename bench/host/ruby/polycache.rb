# frozen_string_literal: true

# The Ruby package: text is encoded by every set, and decoded by every get that memory does not
# answer. Over a directory there is no memory tier by default; here it hands out frozen values.

require "session"
require "polycache"

class PolycacheSubject
  attr_reader :name, :durability, :versions

  def initialize(place)
    @name = "polycache"
    @durability = Session::SURVIVES_KILL
    @versions = {} # The commit names it.
    @cache = Polycache::Cache.new(path: place.directory, limit: place.limit)
    @all_in_memory = with_memory(place, place.keys)
    @tenth_in_memory = with_memory(place, place.keys / 10)
  end

  def with_memory(place, entries)
    memory = { max_entries: entries, max_bytes: "4GiB", isolation: "freeze" }
    Polycache::Cache.new(path: place.directory, limit: place.limit, memory: memory)
  end

  def bounded? = true

  def operations
    {
      Session::PUT => method(:fill),
      Session::GET => reading(@cache),
      Session::GET_WITHOUT_MEMORY => reading(@cache),
      Session::GET_ALL_IN_MEMORY => reading(@all_in_memory),
      Session::GET_TENTH_IN_MEMORY => reading(@tenth_in_memory)
    }
  end

  def reading(cache)
    lambda do |keys|
      misses = 0
      keys.each { |key| misses += 1 if cache.get(key).nil? }
      misses
    end
  end

  def fill(pairs)
    pairs.each { |key, value| @cache.set(key, value) }
  end

  def value(key) = @cache.get(key)

  def turns
    stats = @cache.stats
    # A 512th of the limit, from 64 KiB to 16 MiB, rounded down to a power of two (spec/host.md).
    block = 1 << ((stats.fetch(:limit) / 512).clamp(64 << 10, 16 << 20).bit_length - 1)
    stats.fetch(:blocks_claimed) * block / stats.fetch(:limit).to_f
  end

  def close = [@cache, @all_in_memory, @tenth_in_memory].each(&:close)
end

Session.serve(PolycacheSubject)
