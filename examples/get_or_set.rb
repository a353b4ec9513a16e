# frozen_string_literal: true

# A value is loaded once, however many callers and processes ask, until it is deleted.

require "polycache"

loads = 0
# Stands for your database.
load_prices = lambda do
  loads += 1
  { "apple" => 120, "pear" => 90, "currency" => "EUR" }
end

Polycache::Cache.open(path: ".cache", namespace: %w[examples get_or_set.rb]) do |cache|
  cache.clear

  prices = nil
  3.times { prices = cache.get_or_set("prices", ttl: "5m", &load_prices) }
  puts "#{prices} after #{loads} load"
  raise unless loads == 1

  cache.delete("prices")
  cache.get_or_set("prices", ttl: "5m", &load_prices)
  puts "#{loads} loads after a delete; #{cache.ttl("prices").round} s to live"
  raise unless loads == 2

  # A loader's error is its caller's; nothing is stored, and the next caller loads.
  begin
    cache.get_or_set("broken") { 1 / 0 }
  rescue ZeroDivisionError => e
    puts "the loader's own error: #{e.message}"
  end
  raise if cache.exist?("broken")

  # nil is a value. exist?, or a default, tells it apart from a miss.
  cache.set("discount", nil)
  raise unless cache.exist?("discount") && cache.get("discount", :none).nil?
  raise unless cache.get("absent", :none) == :none
end
