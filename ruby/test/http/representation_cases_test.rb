# frozen_string_literal: true

require_relative "helper"

# spec/http/representation.json: what bytes in memory answer, through Rack.
class RepresentationCasesTest < Minitest::Test
  include OverRack

  FILE = File.expand_path("../../../spec/http/representation.json", __dir__)
  NOW = Time.utc(2026).to_i * 1000

  JSON.parse(File.read(FILE)).fetch("cases").each do |one|
    define_method("test_#{one["name"]}") { run_case(one) }
  end

  def test_compressed_types_are_those_of_the_specification
    spec = JSON.parse(File.read(File.expand_path("../compressed-types.json", FILE)))
    types = HTTP.send(:const_get, :CompressedTypes)

    assert_equal [spec["types"], spec["families"]], [types::TYPES, types::FAMILIES]
    (spec["types"] + spec["families"].map { |family| "#{family}/x-any" }).each do |type|
      assert types.include?(type), type
    end
    spec["others"].each { |type| refute types.include?(type), type }
  end

  def run_case(one)
    value = one.fetch("value", {})
    expected = one.fetch("expect")
    bytes = value["text"] || JSON.generate("x" * value.fetch("repeat", 2000))
    ago = value["stored_seconds_ago"]
    representation = HTTP::Representation.new(
      bytes, content_type: value.fetch("content_type", "application/json"),
             stored_at: ago && Time.at((NOW / 1000) - ago), clock: -> { NOW }
    )
    names = names_of(representation)
    fields = one["request"].fetch("headers", {}).transform_values { |text| fill(text, names) }
    needs_brotli(expected)
    response = ask(app_of(representation, **options(one)),
                   one["request"].fetch("method", "GET"), fields)

    assert_equal expected["status"], response.status
    assert_fields(expected.fetch("headers", {}), response, names)
    assert_body(expected, response, bytes)
  end

  private

  def needs_brotli(expected)
    wanted = expected.dig("headers", "content-encoding") == "br"
    skip "neither the gem brotli here nor its library" if
      wanted && !HTTP::Codings::ALL.include?("br")
  end

  def names_of(representation)
    gzip = HTTP::Representation.new(representation.encoded("gzip")).etag
    etag = representation.etag
    { "etag" => etag, "bare" => etag.delete('"'), "gzip" => gzip }
  end

  def fill(text, names) = text.gsub(/\$\{(\w+)\}/) { names.fetch(Regexp.last_match(1)) }

  def options(one)
    one.fetch("options", {}).transform_keys(&:to_sym)
  end

  def assert_fields(expected, response, names)
    expected.each do |name, text|
      found = response[name]
      case text
      when nil then assert_nil found, name
      when Hash then refute_equal fill(text["not"], names), found, name
      else assert_equal fill(text, names), found, name
      end
    end
  end

  def assert_body(expected, response, bytes)
    case expected["body"]
    when "empty" then assert_empty response.body
    when "problem"
      assert_equal "application/problem+json", response["content-type"]
      assert_equal expected["status"], JSON.parse(response.body)["status"]
    else assert_equal bytes.b, decoded(response)
    end
  end
end
