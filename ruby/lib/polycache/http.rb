# frozen_string_literal: true

require_relative "errors"
require_relative "http/endpoint"
require_relative "http/policy"
require_relative "http/problem"
require_relative "http/representation"
require_relative "http/response_cache"
require_relative "http/stream_range"

module Polycache
  # Values over HTTP (spec/http.md): bytes that are encoded once, with entity tags, compressed
  # variants and the answers that HTTP has for a request, for Rack and what is built on it.
  #
  #   page = Polycache::HTTP::Representation.new("[1,2,3]")
  #   run ->(env) { page.rack(env) }
  module HTTP
  end
end
