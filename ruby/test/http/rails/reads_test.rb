# frozen_string_literal: true

require_relative "helper"

# Cached reads over redis-rb in a controller, of a server that another client writes to.
class ReadsOnRailsTest < Minitest::Test
  include OnRails

  def teardown
    Site.reads&.close if defined?(Site)
    Site.reads = nil if defined?(Site)
    @redis&.close
    super
  end

  somewhere "a controller that reads a stream" do
    key = "#{@prefix}-stream"
    @redis = Redis.new(port: @port)
    Site.reads = Polycache.cached(@redis, prefix: @prefix, path: @directory, limit: "16MiB",
                                          timeout: "5s", max_staleness: "10s")
    plain("XADD", key, "1-1", "color", "teal")
    first = ask("/read/#{key}")

    assert_equal [["1-1", { "color" => "teal" }]], first.json["value"]
    etag = first.fields["etag"]
    until_true("it is kept") do
      before = Site.reads.stats[:memory_hits]
      ask("/read/#{key}")
      Site.reads.stats[:memory_hits] > before
    end
    same = ask("/read/#{key}", if_none_match: etag)

    assert_equal [304, "", etag], [same.status, same.body, same.fields["etag"]]
    sent = Site.reads.stats[:sent]
    packed = ask("/read/#{key}", accept_encoding: "gzip")

    assert_equal first.json["value"], JSON.parse(packed.body)["value"]
    assert_equal sent, Site.reads.stats[:sent]
    plain("XADD", key, "2-1", "color", "red")
    until_true("the write is shown") { ask("/read/#{key}", if_none_match: etag).status == 200 }
    after = ask("/read/#{key}")

    assert_equal({ "color" => "red" }, after.json["value"].last.last)
    refute_equal etag, after.fields["etag"]
  end
end
