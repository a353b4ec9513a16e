# frozen_string_literal: true

require_relative "helper"

# A Rack app over a block.
class EndpointTest < Minitest::Test
  include OverRack

  def test_what_it_serves
    endpoint = HTTP::Endpoint.new(cache_control: { max_age: "5s" }) do |env|
      range = HTTP.stream_range(env["QUERY_STRING"])
      HTTP::Representation.new("[#{range.count}]").within("value", { start: range.start })
    end
    response = ask(endpoint, path: "/?count=5")

    assert_equal [200, "max-age=5", '{"value":[5],"start":"-"}'],
                 [response.status, response["cache-control"], response.body]
    wrong = ask(endpoint, path: "/?count=0")

    assert_equal [400, "no-store"], [wrong.status, wrong["cache-control"]]
    assert_equal({ "parameter" => "count", "type" => "about:blank", "title" => "Bad Request",
                   "status" => 400,
                   "detail" => "The parameter count is no whole number from 1 to 10000." },
                 JSON.parse(wrong.body))
    head = ask(endpoint, "HEAD", path: "/?count=0")

    assert_equal [400, ""], [head.status, head.body]
  end

  def test_errors
    error = nil
    endpoint = HTTP::Endpoint.new { raise error }
    {
      RuntimeError.new("a secret") => 500, Polycache::NoSpace.new("full") => 503,
      Polycache::InvalidArgument.new("wrong") => 500, HTTP::HttpProblem.new(429, "Slowly.") => 429
    }.each do |raised, status|
      error = raised
      response = Rack::MockRequest.new(Rack::Lint.new(endpoint)).get("/")

      assert_equal status, response.status
      refute_includes response.body, "secret"
      assert_equal status >= 500, response.errors.include?(raised.message)
    end
  end

  def test_what_it_refuses
    asked = false
    endpoint = HTTP::Endpoint.new { asked = true }

    assert_equal 405, ask(endpoint, "POST").status
    refute asked
    assert_equal 500, ask(endpoint).status
    assert_equal 404, ask(HTTP::Endpoint.new { nil }).status
    assert_raises(Polycache::InvalidArgument) { HTTP::Endpoint.new }
  end
end
