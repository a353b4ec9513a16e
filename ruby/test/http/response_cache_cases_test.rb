# frozen_string_literal: true

require_relative "response_cache_helper"
require "tmpdir"

# spec/http/response-cache.json and spec/http/stored-answers.json: what a response cache stores,
# under which key, and whom it answers with what.
class ResponseCacheCasesTest < Minitest::Test
  include OverRack
  include ResponseCaches

  SPEC = File.expand_path("../../../spec/http", __dir__)
  CASES = JSON.parse(File.read("#{SPEC}/response-cache.json"))["cases"]
  STORED = JSON.parse(File.read("#{SPEC}/stored-answers.json"))["cases"]

  CASES.each do |one|
    define_method("test_in_memory_#{one["name"]}") do
      run_case(one) { |clock| Polycache::Cache.new(clock: clock) }
    end

    define_method("test_in_a_directory_#{one["name"]}") do
      Dir.mktmpdir do |path|
        run_case(one) { |clock| Polycache::Cache.new(path: path, limit: "2MiB", clock: clock) }
      end
    end
  end

  STORED.each do |one|
    define_method("test_stored_#{one["name"]}") { store(one) }
  end

  def test_what_is_in_doubt_counts
    directives = HTTP::ResponseCache.send(:const_get, :Directives)
    [
      ["max-age=5", "max-age", 5], [" Max-Age = 5", "max-age", 0],
      [", ,max-age=\"7\" , x", "max-age", 7], ["max-age=1, max-age=9", "max-age", 1],
      ["max-age=", "max-age", 0], ["max-age=-1", "max-age", 0],
      ["max-age=#{"9" * 5000}", "max-age", 2**31], ["x=\"a, private\"", "private", nil],
      ["x=\"a, private", "private", 0], ["x y, PRIVATE", "private", 0],
      ["x=\"\\\"\", no-store", "no-store", 0], ["private=\"x-a\"", "private", 0],
      ["", "private", nil]
    ].each do |field, name, seconds|
      assert_equal [field, seconds], [field, directives.new(field).seconds(name)]
    end
  end

  private

  def options(one) = one.fetch("options", {}).transform_keys(&:to_sym)

  def run_case(one)
    now = START
    clock = -> { now }
    cache = yield(clock)
    origin = Origin.new
    app = Rack::Lint.new(cached(Rack::Lint.new(origin), cache, clock: clock, on_error: ->(_) {},
                                                               **options(one)))
    one["steps"].each_with_index do |step, number|
      now = START + (step["at"] * 1000).to_i
      origin.answer = step["origin"]
      origin.asked = 0
      check(number, step["expect"], get(app, **step.fetch("request", {}).transform_keys(&:to_sym)),
            origin.asked)
    end
  ensure
    cache&.close
  end

  def check(number, expected, got, asked)
    body = expected.fetch("body", got.body)

    assert_equal [number, expected["status"], body.b, expected["asked"]],
                 [number, got.status, got.body, asked]
    expected.fetch("headers", {}).each do |name, value|
      if value.is_a?(Hash)
        refute_equal value["not"], got.headers[name], name
      else
        assert_equal [name, value], [name, got.headers[name]]
      end
    end
  end

  def store(one)
    clock = -> { START + (one["at"] * 1000).to_i }
    asked = one["request"].transform_keys(&:to_sym)
    stored = one["stored"]
    stored = stored.merge("body" => stored["body"].b) if stored.key?("body")
    origin = Origin.new
    origin.answer = one["origin"]
    before = one.fetch("before", {})

    writing = Polycache::Cache.new(clock: clock)
    writing.set_many(before)
    get(cached(origin, writing, clock: clock, **options(one)), **asked)

    assert_equal [*before.keys, one["key"]].sort, writing.keys.sort
    found = writing.get(one["key"])

    assert_equal stored, found
    assert_equal Encoding::BINARY, found["body"].encoding if found.key?("body")
    assert_equal stored.keys, found.keys

    reading = Polycache::Cache.new(clock: clock)
    reading.set_many(before)
    reading.set(one["key"], stored)
    origin.asked = 0
    got = get(cached(origin, reading, clock: clock, **options(one)), **asked)

    assert_equal [one["origin"]["status"], one["origin"]["body"].b], [got.status, got.body]
    assert_equal stored.key?("pass") ? 1 : 0, origin.asked
    stored.fetch("fields", []).each do |name, value|
      assert_equal [name, value], [name, got.headers[name]] unless name == "vary"
    end
  end
end
