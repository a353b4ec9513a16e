# frozen_string_literal: true

require "test_helper"

# Which values a memory tier without room keeps: spec/vectors/admission.json.
class AdmissionTest < Minitest::Test
  include Caches

  FILE = File.expand_path("../../spec/vectors/admission.json", __dir__)
  CASES = JSON.parse(File.read(FILE))

  %w[clone freeze none].product(%w[2q-clock lru]).each do |isolation, policy|
    CASES.each do |vector|
      define_method("test_#{isolation}_#{policy}_#{vector["about"].tr(" ,", "_")}") do
        memory = { max_entries: vector["max_entries"], isolation: isolation, policy: policy }
        cache = open_cache(memory: memory)
        200.times { |key| cache.set(key.to_s, "value #{key}") }
        vector["steps"].each { |step| run_step(cache, *step) }
      end
    end
  end

  # A load that finds a value reads it, too.
  def test_what_fetch_finds_is_kept_by_the_same_rule
    cache = open_cache(memory: { max_entries: 8, isolation: "freeze" })
    40.times { |key| cache.set(key.to_s, "value #{key}") }
    40.times { |key| assert_predicate cache.fetch(key.to_s) { flunk }, :frozen? }

    assert_equal 0, hits_of(cache) { 8.upto(39) { |key| cache.fetch(key.to_s) { flunk } } }
    assert_equal 8, hits_of(cache) { 8.times { |key| cache.fetch(key.to_s) { flunk } } }
    2.times { cache.fetch("20") { flunk } }
    assert_equal 1, hits_of(cache) { cache.fetch("20") { flunk } }
  end

  def test_who_is_turned_away_is_given_a_frozen_value_or_one_of_their_own
    { "freeze" => true, "clone" => false }.each do |isolation, frozen|
      cache = open_cache(memory: { max_entries: 1, isolation: isolation })
      %w[a b].each { |key| cache.set(key, ["x"]) }
      cache.get("a")

      read = cache.get("b")

      assert_equal [frozen, frozen], [read.frozen?, read[0].frozen?]
      assert_equal ["x"], cache.get("b")
    end
  end

  private

  def run_step(cache, operation, first, last = nil, hits = nil)
    case operation
    when "write" then cache.set(first.to_s, "value #{first}")
    when "delete" then cache.delete(first.to_s)
    when "read"
      found = hits_of(cache) do
        first.upto(last) { |key| assert_equal "value #{key}", cache.get(key.to_s) }
      end

      assert_equal hits, found, [operation, first, last].inspect
    else raise "not in the format: #{operation}"
    end
  end

  def hits_of(cache)
    before = cache.stats[:memory_hits]
    yield
    cache.stats[:memory_hits] - before
  end
end
