# frozen_string_literal: true

require_relative "helper"

# Endpoints in routes, and representations that a controller answers with.
class AnswersOnRailsTest < Minitest::Test
  include OnRails

  def test_an_endpoint_in_routes
    got = ask("/endpoint/one?start=5-1")

    assert_equal [200, "max-age=5", "application/json"],
                 [got.status, *got.fields.values_at("cache-control", "content-type")]
    assert_equal({ "start" => "5-1", "at" => "", "name" => "one" }, got.json.except("value"))
    assert_equal "/mounted", ask("/mounted/deep").json["at"]
    wrong = ask("/endpoint/one?count=0")

    assert_equal [400, "count", "no-store"],
                 [wrong.status, wrong.json["parameter"], wrong.fields["cache-control"]]
    assert_equal 405, ask("/mounted/", method: "POST").status
  end

  def test_a_controller_answers_with_bytes_that_were_encoded_once
    got = ask("/value")

    assert_equal [200, Site::LIST.text, Site::LIST.etag],
                 [got.status, got.body, got.fields["etag"]]
    assert_equal %w[max-age=5 private], directives(got)
    # Rails names the charset, too.
    assert_match(%r{\Aapplication/json\b}, got.fields["content-type"])
    assert_equal got.body.bytesize.to_s, got.fields["content-length"]
    assert_equal 403, ask("/value?forbidden=1").status
  end

  def test_what_a_client_has_is_not_sent_again
    [["/value", Site::LIST.etag], ["/within?tag", "W/#{Site::LIST.etag}"]].each do |path, etag|
      # RFC 9110 13.1.2: a weak comparison.
      [etag, "\"other\", #{etag.delete_prefix("W/")}", "*"].each do |has|
        same = ask(path, if_none_match: has)

        assert_equal [304, "", etag], [same.status, same.body, same.fields["etag"]]
        assert_equal [nil] * 3,
                     same.fields.values_at("content-type", "content-length", "content-encoding")
      end
      assert_equal 200, ask(path, if_none_match: "\"other\"").status
    end
    assert_equal 412, ask("/value", if_match: "\"other\"").status
  end

  def test_head_is_get_without_the_body
    %w[/value /within?tag /within /endpoint/one].each do |path|
      get = ask(path)
      head = ask(path, method: "HEAD")

      assert_equal [200, ""], [head.status, head.body]
      same = %w[content-type cache-control vary]
      # Where we give none, Rails makes one of a body that is there.
      same << "etag" if get.fields["etag"].include?(Site::LIST.etag)

      assert_equal get.fields.slice(*same), head.fields.slice(*same)
    end
    assert_equal ask("/value").fields["content-length"],
                 ask("/value", method: "HEAD").fields["content-length"]
  end

  def test_compressed_variants
    %w[/value /within /endpoint/one].each do |path|
      whole = ask(path)
      packed = ask(path, accept_encoding: "gzip")

      assert_equal "gzip", packed.fields["content-encoding"]
      assert_equal packed.body.bytesize.to_s, packed.fields["content-length"]
      assert_includes packed.fields["vary"], "accept-encoding"
      assert_equal value(whole.body), value(Zlib.gunzip(packed.body))
    end
    # Each variant has a tag of its own, and a client that has it gets 304.
    packed = ask("/value", accept_encoding: "gzip").fields["etag"]

    refute_equal Site::LIST.etag, packed
    assert_equal 304, ask("/value", accept_encoding: "gzip", if_none_match: packed).status
    assert_equal 200, ask("/value", if_none_match: packed).status
    assert_equal 406, ask("/value", accept_encoding: "identity;q=0").status
  end

  # Rails' middleware for tags gives one to what has none.
  def test_rails_replaces_no_tag
    %w[/value /value?say=no-cache /within?tag].each do |path|
      assert_includes ask(path).fields["etag"], Site::LIST.etag
    end
    refute_includes ask("/within").fields["etag"].to_s, Site::LIST.etag
  end

  # In a controller Rails 7 writes the field anew, and adds `private` where neither it nor `public`
  # is said.
  def test_what_caches_may_do_is_what_was_said
    ["no-store", "no-cache", "public, max-age=5, stale-while-revalidate=30", "private",
     "public, s-maxage=4, max-age=5, stale-if-error=6", "private, max-age=5, must-revalidate",
     "public, immutable, max-age=9"].each do |said|
      assert_equal said.split(", ").sort, directives(ask("/value?say=#{Rack::Utils.escape(said)}"))
    end
    bare = directives(ask("/value?say=max-age%3D5"))

    assert_includes [%w[max-age=5], %w[max-age=5 private]], bare
  end

  def test_what_rails_has_for_durations_and_options
    always = ->(control) { Polycache::HTTP::Policy.new(cache_control: control).always }

    assert_equal "max-age=300", always.call({ max_age: 5.minutes })["cache-control"]
    options = { "visibility" => "public", max_age: 5.minutes }.with_indifferent_access

    assert_equal "public, max-age=300", always.call(options)["cache-control"]
    cache = Polycache::Cache.new(path: @directory, limit: 4.megabytes, ttl: 1.hour)
    @opened << cache
    cache.set("a", 1, ttl: 5.minutes)
    cache.set("b", 1, expires_at: 5.minutes.from_now)

    assert_equal [1, 1, 3], [*cache.get_many(%w[a b]).values, cache.get_or_set("c") { 3 }]
  end

  # ActiveSupport writes JSON in its own way: `<` as an escape, times in zones.
  def test_json_is_that_of_all_languages
    at = Time.utc(2026, 11, 28, 12, 30, 1.5r).in_time_zone("Tokyo")
    fields = { text: "<&>\u2028", time: at, list: [1.0, "<".html_safe], safe: "<b>".html_safe,
               options: { a: 1 }.with_indifferent_access }

    assert_equal "{\"value\":[],\"text\":\"<&>\u2028\",\"time\":\"2026-11-28T12:30:01.500Z\"," \
                 "\"list\":[1,\"<\"],\"safe\":\"<b>\",\"options\":{\"a\":1}}",
                 Polycache::HTTP::Representation.new("[]").within("value", fields).text
  end

  private

  def directives(got) = got.fields["cache-control"].split(", ").sort

  def value(text)
    document = JSON.parse(text)
    document.is_a?(Hash) ? document["value"] : document
  end
end
