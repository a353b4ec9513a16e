# frozen_string_literal: true

# The Ruby package: text is encoded by every set and decoded by every get.

require "session"
require "polycache"

class PolycacheSubject
  attr_reader :name, :durability, :versions

  def initialize(place)
    @name = "polycache"
    @durability = Session::SURVIVES_KILL
    @versions = {} # The commit names it.
    @cache = Polycache::Cache.new(path: place.directory, limit: place.limit)
  end

  def bounded? = true

  def operations
    { Session::PUT => method(:fill), Session::GET => method(:get) }
  end

  def get(keys)
    misses = 0
    keys.each { |key| misses += 1 if @cache.get(key).nil? }
    misses
  end

  def fill(pairs)
    pairs.each { |key, value| @cache.set(key, value) }
  end

  def value(key) = @cache.get(key)

  def turns
    stats = @cache.stats
    block = stats.fetch(:max_record) + 32
    stats.fetch(:blocks_claimed) * block / stats.fetch(:limit).to_f
  end

  def close = @cache.close
end

Session.serve(PolycacheSubject)
