# frozen_string_literal: true

require_relative "helper"
require "polycache"

# Response caches before an origin that a test tells what to answer.
module ResponseCaches
  # The clock of the cases at 0, in milliseconds.
  START = 1_767_225_600_000

  # Answers what it is told to, and counts how often it is asked.
  class Origin
    attr_accessor :answer, :asked

    def initialize
      @answer = "fails"
      @asked = 0
    end

    def call(env)
      @asked += 1
      raise IOError, "the origin is down" if @answer == "fails"

      body = @answer["body"].gsub(/\$\{field:([\w-]+)\}/) do
        env.fetch("HTTP_#{Regexp.last_match(1).upcase.tr("-", "_")}", "-")
      end
      is_empty = env["REQUEST_METHOD"] == "HEAD" || @answer["status"] == 204
      [@answer["status"], @answer["headers"].dup, is_empty ? [] : [body]]
    end
  end

  # An answer, of which everything has been read.
  Got = Struct.new(:status, :headers, :body) do
    def cache_status = headers["cache-status"].delete_prefix("polycache; ")
  end

  # What a server does with a request.
  def get(app, target: "/", method: "GET", host: "test.example", headers: {}, **extra)
    path, query = target.split("?", 2)
    env = Rack::MockRequest.env_for("/", method: method)
    env.update("PATH_INFO" => path, "QUERY_STRING" => query.to_s, "REMOTE_ADDR" => "203.0.113.7")
    env.delete("HTTP_HOST")
    { "host" => host, **headers }.compact.each do |name, value|
      env["HTTP_#{name.upcase.tr("-", "_")}"] = value.encode("ISO-8859-1").b
    end
    status, fields, body = app.call(env.merge(extra.transform_keys(&:to_s)))
    text = +"".b
    body.each { |chunk| text << chunk.b }
    body.close if body.respond_to?(:close)
    Got.new(status, fields, text)
  end

  def cached(app, cache, **options) = Polycache::HTTP::ResponseCache.new(app, cache, **options)
end
