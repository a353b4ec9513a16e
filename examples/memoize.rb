# frozen_string_literal: true

# Remembers what a method returned, for every process of the machine, for a while.

require "polycache"

cache = Polycache::Cache.new(path: ".cache", namespace: %w[examples memoize.rb])
cache.clear

# Stands for a slow source.
module Atlas
  class << self
    attr_reader :calls

    def distance(start, destination, unit: "km")
      @calls = @calls.to_i + 1
      start.size * destination.size * (unit == "km" ? 1.0 : 0.621)
    end
  end
end

distance = cache.memoize(Atlas.method(:distance), ttl: "1h")
p [distance.call("Oslo", "Rome"), distance.call("Oslo", "Rome")]
p distance.call("Oslo", "Rome", unit: "mi")
puts "#{Atlas.calls} calls for 3 questions"
raise unless Atlas.calls == 2

# All results of one function; cache.keys shows what they are called.
puts cache.keys.sort
raise unless cache.delete_prefix("Atlas.distance(") == 2
