# frozen_string_literal: true

require_relative "helper"

# A representation and what is put around it.
class RepresentationTest < Minitest::Test
  include OverRack

  def test_a_variant_is_made_once_for_all_threads
    list = HTTP::Representation.new(LIST)
    all = Array.new(20) { Thread.new { list.encoded("gzip") } }.map(&:value)

    assert_equal 1, all.uniq(&:object_id).size
    assert_equal LIST, Zlib.gunzip(all.first)
    assert_equal LIST.b, unzstd(list.encoded("zstd"))
  end

  # Digest loads its parts when they are first used, and several threads at once may fail at that.
  def test_hashing_is_loaded_before_threads_are_there
    lib = File.expand_path("../../lib", __dir__)
    program = 'require "polycache/http"; exit Digest.const_defined?(:SHA256)'

    assert system(RbConfig.ruby, "-I", lib, "-e", program)
  end

  def test_a_variant_is_the_same_at_any_time
    gzip = HTTP::Representation.new(LIST).encoded("gzip")

    assert_equal [0], gzip.byteslice(4, 4).unpack("V"), "the time, RFC 1952 2.3"
  end

  def test_bytes_are_its_own
    text = +"[1]"
    one = HTTP::Representation.new(text)
    text << "2"

    assert_equal "[1]", one.text
    assert_predicate one.bytes, :frozen?
  end

  def test_in_gzip_whatever_the_length_of_the_text_and_of_the_value
    [0, 1, 1000, 200_000].each do |size|
      one = HTTP::Representation.new(JSON.generate("v" * size))
      [0, 1, 65_530, 65_536, 140_000].each do |length|
        text = "é" * length
        document = one.within("n" * length, { text: text })
        expected = { "n" * length => "v" * size, "text" => text }

        assert_equal expected, JSON.parse(document.text)
        response = ask(app_of(document), "GET", { "accept-encoding" => "gzip, identity;q=0" })

        assert_equal "gzip", response["content-encoding"]
        assert_equal expected, JSON.parse(Zlib.gunzip(response.body))
      end
    end
  end

  def test_documents_have_the_members_of_json
    one = HTTP::Representation.new("1")

    assert_equal '{"a\"b":1,"date":"1970-01-01T00:00:00.000Z"}',
                 one.within('a"b', { date: Time.at(0) }).text
    assert_equal '{"a":1}', one.within(:a).text
    assert_nil one.within("a").etag
    assert_equal "W/#{one.etag}", one.within("a", incidental: true).etag
  end

  def test_incidental_fields
    one = HTTP::Representation.new(LIST).within("value", { at: 1 }, incidental: true)
    %w[gzip identity].each do |coding|
      response = ask(app_of(one), "GET", { "accept-encoding" => coding })

      assert_equal one.etag, response["etag"]
      again = ask(app_of(one), "GET", { "if-none-match" => one.etag, "accept-encoding" => coding })

      assert_equal [304, one.etag, ""], [again.status, again["etag"], again.body]
    end
    head = ask(app_of(one), "HEAD")

    assert_equal [one.size.to_s, ""], [head["content-length"], head.body]
  end

  def test_a_document_that_the_client_has_is_not_compressed
    one = HTTP::Representation.new(LIST).within("value", { at: 1 }, incidental: true)
    gzip = { "accept-encoding" => "gzip" }
    Zlib::Deflate.stub(:new, ->(*) { flunk "compressed" }) do
      assert_equal 304, one.respond("GET", { **gzip, "if-none-match" => one.etag }).status
      assert_equal 412, one.respond("GET", { **gzip, "if-match" => '"another"' }).status
      assert_raises(Minitest::Assertion) { one.respond("GET", gzip) }
    end
  end

  def test_the_answer_without_rack
    one = HTTP::Representation.new("[1]")
    answer = one.respond("GET", { "if-none-match" => one.etag })

    assert_equal [304, []], [answer.status, answer.body]
    assert_equal 405, one.respond("POST", {}).status
  end

  def test_a_policy_that_is_used_again
    policy = HTTP::Policy.new(cache_control: { visibility: :public, max_age: "1m" },
                              headers: { "X-Frame-Options" => "DENY" })
    one = HTTP::Representation.new("[1]")
    2.times do
      response = ask(->(env) { one.rack(env, policy) })

      assert_equal ["public, max-age=60", "DENY"],
                   [response["cache-control"], response["x-frame-options"]]
    end
  end

  def test_refusals
    list = HTTP::Representation.new(LIST)
    html = HTTP::Representation.new(LIST, content_type: "text/html")
    {
      "no text" => -> { HTTP::Representation.new([1]) },
      "two fields" => -> { HTTP::Representation.new("", content_type: "a\r\nset-cookie: a=1") },
      "a tag without quotes" => -> { HTTP::Representation.new("", etag: "v1") },
      "no time" => -> { HTTP::Representation.new("", stored_at: 1) },
      "no coding" => -> { list.encoded("deflate") },
      "no JSON" => -> { html.within("value") },
      "the value's name" => -> { list.within("value", { value: 1 }) },
      "fields that are a list" => -> { list.within("value", []) },
      "a field that is no JSON" => -> { list.within("value", { a: Object.new }) },
      "a field of its own" => -> { HTTP::Policy.new(headers: { "ETag" => '"a"' }) },
      "a field that would be two" => -> { HTTP::Policy.new(headers: { "x-a" => "b\nc: d" }) },
      "a Cache-Control of nothing" => -> { HTTP::Policy.new(cache_control: {}) },
      "an age for what nobody stores" =>
        -> { HTTP::Policy.new(cache_control: { no_store: true, max_age: "1s" }) },
      "an unknown option" => -> { list.respond("GET", {}, colour: "red") },
      "an unknown directive" => -> { HTTP::Policy.new(cache_control: { fast: true }) }
    }.each do |what, wrong|
      assert_raises(Polycache::InvalidArgument, what) { wrong.call }
    end
  end

  def test_a_problem_is_an_error_of_this_gem
    problem = HTTP::HttpProblem.new(503, "Later.", { retry: 5 })

    assert_kind_of Polycache::Error, problem
    assert_equal ["http_problem", 503, true], [problem.code, problem.status, problem.retryable?]
    refute_predicate HTTP::HttpProblem.new(404, "No."), :retryable?
  end
end
