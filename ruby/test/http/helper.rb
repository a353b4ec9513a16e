# frozen_string_literal: true

require_relative "../redis_namespace/support/clients"
begin
  require "brotli"
rescue LoadError
  $LOAD_PATH.push(File.expand_path("../support/brotli_stand_in", __dir__))
end
require "fiddle"
require "test_helper"
require "rack/lint"
require "rack/mock_request"
require "zlib"
require "polycache/http"

# Requests by Rack, whose own Lint looks at each answer.
module OverRack
  HTTP = Polycache::HTTP
  # Of a few hundred numbers.
  LIST = JSON.generate((0...1000).to_a)

  def ask(app, method = "GET", headers = {}, path: "/")
    fields = headers.transform_keys { |name| "HTTP_#{name.upcase.tr("-", "_")}" }
    Rack::MockRequest.new(Rack::Lint.new(app)).request(method, path, **fields)
  end

  # As an app.
  def app_of(subject, **options) = ->(env) { subject.rack(env, **options) }

  def decoded(response)
    case response["content-encoding"]
    when nil then response.body.b
    when "gzip" then Zlib.gunzip(response.body)
    when "br" then Brotli.inflate(response.body).b
    when "zstd" then unzstd(response.body)
    else flunk "the coding #{response["content-encoding"]}"
    end
  end

  # By the system's own library, which Debian's dpkg needs: Ruby has none.
  def unzstd(bytes)
    size = Fiddle::TYPE_SIZE_T
    decompress = Fiddle::Function.new(Fiddle.dlopen("libzstd.so.1")["ZSTD_decompress"],
                                      [Fiddle::TYPE_VOIDP, size, Fiddle::TYPE_VOIDP, size], size)
    out = "\0".b * (1 << 22)
    out.byteslice(0, decompress.call(out, out.bytesize, bytes, bytes.bytesize))
  end
end
