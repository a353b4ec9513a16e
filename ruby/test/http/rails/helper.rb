# frozen_string_literal: true

# What tools/setup.sh rails installed: Rails 7 over Rack 3, which is unpacked; with
# POLYCACHE_RAILS=6 the machine's own, over Rack 2. redis-rb is the unpacked one.
tools = ENV.fetch("POLYCACHE_TOOLS") { File.expand_path("../../../../target/tools", __dir__) }
gems = lambda do |folder, names|
  Dir["#{tools}/debian/#{folder}/usr/share/rubygems-integration/all/gems/#{names}-[0-9]*" \
      "/lib{,/concurrent-ruby}"]
end
$LOAD_PATH.unshift(*gems.call("trixie", "{redis,redis-client,connection_pool}"))
unless ENV["POLYCACHE_RAILS"] == "6"
  $LOAD_PATH.unshift(*gems.call("rails", "*"), "#{tools}/debian/rails/usr/lib/ruby/vendor_ruby")
end

require "test_helper"
require "polycache/http"
require "zlib"
require_relative "../../support/remote_caches"
begin
  require_relative "site"
rescue LoadError => e # The tests are skipped.
  NO_RAILS = e.message
end

# Requests to a Rails application, through all its middlewares.
module OnRails
  include RemoteCaches
  include Children

  # An answer, of which everything has been read; its fields by their names in lower case.
  Got = Struct.new(:status, :fields, :body) do
    def cache_status = fields["cache-status"]&.delete_prefix("polycache; ")
    def json = JSON.parse(body)
  end

  def self.included(tests) = tests.extend(RemoteCaches::Everywhere)

  def setup
    super
    skip "#{NO_RAILS}: tools/setup.sh rails installs it" if defined?(NO_RAILS)
    Site.rendered = 0
  end

  def site = Rails.application

  # What a server does with a request.
  def ask(path, method: "GET", app: site, host: "shop.example", **fields)
    headers = fields.transform_keys { |name| "HTTP_#{name.upcase}" }
    env = Rack::MockRequest.env_for(path, method: method, **headers, "HTTP_HOST" => host)
    env["rack.errors"] = StringIO.new
    got(app.call(env))
  end

  def got(answer)
    status, headers, body = answer
    text = +""
    body.each { |piece| text << piece }
    # Rack 2 has lines of one field in one String.
    fields = headers.to_h { |name, value| [name.downcase, [value].join("\n")] }
    Got.new(status, fields, text)
  ensure
    body.close if body.respond_to?(:close)
  end
end
