# frozen_string_literal: true

require "open3"
require_relative "test_helper"

# The option +name+: what metrics call a cache.
class NameTest < Minitest::Test
  def test_it_is_the_namespace_and_covers_what_is_nested
    Dir.mktmpdir do |path|
      [{ path: path }, {}, { path: path, memory: true }].each do |kind|
        assert_equal "default", Polycache::Cache.new(**kind).name
        cache = Polycache::Cache.new(**kind, namespace: ["shop", :eu])
        assert_equal %w[shop::eu shop::eu], [cache.name, cache.namespace("user 17").name]
        named = Polycache::Cache.new(**kind, namespace: "shop", name: :prices)
        assert_equal %w[prices prices], [named.name, named.namespace("eu").name]
        assert_equal "", Polycache::Cache.new(**kind, namespace: "shop", name: "").name
      end
    end
  end

  # Metrics themselves: opentelemetry_test.rb.
  def test_who_observes_is_told_which_gem_is_missing
    lib = File.expand_path("../lib", __dir__)
    program = 'require "polycache/opentelemetry"'
    said, status = Open3.capture2e(RbConfig.ruby, "--disable-gems", "-I#{lib}", "-e", program)
    refute_predicate status, :success?
    assert_match(/needs the gem opentelemetry-metrics-api/, said)
  end

  def test_what_is_no_text_is_refused_and_leaves_no_directory
    Dir.mktmpdir do |path|
      path = "#{path}/cache"
      make = -> { Polycache::Cache.new(path: path, name: 5) }
      error = assert_raises(Polycache::InvalidArgument, &make)
      assert_equal "name is text, not 5", error.message
      refute_path_exists path
    end
  end
end
