# frozen_string_literal: true

# Serves a Rack app, and tells the controller so as lib/ready.mjs does.

require "json"
require "puma"
require "puma/configuration"
require "puma/launcher"

# How often a server reads the stream from Redis; the controller counts.
EACH = "each request"
CHANGE = "after a change"
NEVER = "never"

JSON_HEADERS = { "content-type" => "application/json" }.freeze
THREADS = 5

# +reads+: one of the above. +notes+: what its rows have to say.
def serve(app, reads:, notes: [])
  # No file of the folder that it is started in configures it.
  configuration = Puma::Configuration.new(config_files: ["-"]) do |puma|
    puma.app app
    puma.bind "tcp://127.0.0.1:0"
    puma.threads THREADS, THREADS
    puma.workers 0
    puma.environment "production"
    puma.quiet
  end
  launcher = Puma::Launcher.new(configuration)
  launcher.events.on_booted { tell(launcher.connected_ports.first, reads, notes) }
  launcher.run
end

def tell(port, reads, notes)
  versions = { "puma" => Puma::Const::VERSION }
  versions["redis-rb"] = Redis::VERSION if defined?(Redis::VERSION)
  puts JSON.generate({ port:, path: "/", reads:, versions:, notes: })
  $stdout.flush
end
