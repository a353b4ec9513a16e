# frozen_string_literal: true

# The Ruby part of the matrix of `make check-remote`: does what each line says, and answers by a
# line. See ../src/remote/matrix.rs.

require "polycache"
require "set"
require_relative "reached"

# One of each kind that all languages have.
VALUES = {
  "text" => "grüße",
  "bytes" => "\x00\xFFA".b,
  "negative" => -7,
  "large" => (2**40) + 1,
  "float" => 1.5,
  "true" => true,
  "null" => nil,
  "list" => [1, "two", nil],
  "map" => { "a" => 1, "b" => [2.5] },
  "set" => Set[7],
  "time" => Time.utc(2026, 1, 2, 3, 4, 5)
}.freeze

MISSING = Polycache::Cache::MISSING

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

def write(cache, mine)
  VALUES.each { |name, value| cache.set("#{mine}-#{name}", value) }
  cache.set("#{mine}-lives", "x", ttl: 1000)
  cache.set("#{mine}-ends", "x", ttl: 1)
  "ok"
end

def read(cache, who)
  VALUES.each do |name, value|
    found = cache.get("#{who}-#{name}", MISSING)
    next if found.instance_of?(value.class) && found == value

    return "#{who}-#{name} is #{found.inspect}"
  end
  left = cache.ttl("#{who}-lives")
  left&.between?(990, 1000) ? "ok" : "#{who}-lives has #{left} left"
end

def gone(cache, who)
  cache.key?("#{who}-ends") ? "#{who}-ends has not ended" : "ok"
end

def load_at(cache, mine, key, moment)
  ran = "found"
  sleep([(moment / 1e9) - now, 0].max)
  value = cache.get_or_set(key) do
    ran = "loaded"
    sleep(0.1)
    "#{mine}-#{Process.pid}"
  end
  "#{ran} #{value}"
end

directory, remote, me = ARGV
cache = Polycache::Cache.new(path: directory, remote: reached(remote), timeout: "10s")
$stdin.each_line do |line|
  what, first, second = line.split
  answer =
    begin
      case what
      when "write" then write(cache, me)
      when "read" then read(cache, first)
      when "gone" then gone(cache, first)
      when "load" then load_at(cache, me, first, Integer(second))
      end
    rescue Polycache::Error => e
      "bad: #{e.message}"
    end
  puts answer
  $stdout.flush
end
