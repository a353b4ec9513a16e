# frozen_string_literal: true

# The application on Puma: two workers that are forked from it when it is loaded, behind a response
# cache, on a free port, which is told. Arguments: a directory, a Redis server's port, and a prefix.

require_relative "site"
require "puma"
require "puma/configuration"
require "puma/launcher"

directory, port, prefix = ARGV
Site.reads = Polycache.cached(Redis.new(port: Integer(port)), prefix: prefix, timeout: "5s",
                                                              path: directory, limit: "16MiB")
cache = Polycache::Cache.new(path: directory, limit: "16MiB", namespace: "pages")
app = Polycache::HTTP::ResponseCache.new(Rails.application, cache,
                                         vary: %w[accept x-requested-with])
configuration = Puma::Configuration.new(config_files: ["-"]) do |puma|
  puma.app app
  puma.bind "tcp://127.0.0.1:0"
  puma.workers 2
  puma.threads 4, 4
  puma.environment "production"
  puma.raise_exception_on_sigterm false
  puma.quiet
end
launcher = Puma::Launcher.new(configuration)
launcher.events.on_booted do
  puts "port #{launcher.connected_ports.first}"
  $stdout.flush
end
launcher.run
