# frozen_string_literal: true

# Rails, on Puma: `ruby rails.rb`.

require "logger"
require "action_controller/railtie"
require "polycache/http"
require "polycache/reads"
require "puma"
require "puma/server"
require "redis"

# The server tells this machine of writes to keys that begin so; a response is at most
# `max_staleness` behind.
READS = Polycache.cached(Redis.new(url: ENV.fetch("REDIS_URL", "redis://127.0.0.1:6379")),
                         prefixes: ["OPTIONS:"], max_staleness: "1s")

# The stream as JSON, and when reading it began and ended.
STREAM = Polycache::HTTP::Endpoint.new do |env|
  # 400, if `start`, `end` or `count` is wrong.
  range = Polycache::HTTP.stream_range(env["QUERY_STRING"])
  start = Time.now
  # `call`, which has lists of fields: those of `xrange` are Hashes.
  value = READS.json.call("XRANGE", "OPTIONS:test:STREAM", range.start, range.end,
                          "COUNT", range.count)
  finish = Time.now
  times = { start: start.strftime("%s%L").to_i, end: finish.strftime("%s%L").to_i,
            endDate: finish }
  # The times do not matter to a client that has the value: it may be answered 304.
  value.within("value", times, incidental: true)
end

# A whole Rails application of one route.
class Site < Rails::Application
  config.secret_key_base = SecureRandom.hex(64)
  config.logger = Logger.new($stderr, level: :warn)
  config.eager_load = true
  config.hosts.clear
  initialize!
  routes.draw { get "/", to: STREAM }
end

server = Puma::Server.new(Site)
server.add_tcp_listener("127.0.0.1", Integer(ENV.fetch("PORT", "3000")))
puts "listening at http://127.0.0.1:#{server.connected_ports.first}/"
$stdout.flush
server.run.join
