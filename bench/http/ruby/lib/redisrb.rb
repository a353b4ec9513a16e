# frozen_string_literal: true

# The stream through redis-rb, over one connection that all threads share.

# redis-rb 5, where it is not installed as a gem: setup.sh unpacked Debian's.
tools = ENV.fetch("POLYCACHE_TOOLS") { File.expand_path("../../../../target/tools", __dir__) }
unpacked = File.join(tools, "debian/trixie/usr")
gems = "#{unpacked}/share/rubygems-integration/all/gems"
$LOAD_PATH.unshift(*Dir["#{gems}/{redis,redis-client,connection_pool}-[0-9]*/lib"],
                   "#{unpacked}/lib/ruby/vendor_ruby")

require "redis"
require_relative "answer"

def connect = Redis.new(host: "127.0.0.1", port: Integer(ENV.fetch("REDIS_PORT")))

def reader
  redis = connect
  -> { redis.xrange(KEY, "-", "+") }
end
