# frozen_string_literal: true

require "test_helper"

# spec/errors.md
class ErrorsTest < Minitest::Test
  TABLE = File.read(File.expand_path("../../spec/errors.md", __dir__))
              .scan(/^\| `(\w+)` \| `(\w+)` \| (.*) \| (yes|no) \|$/)
              .reject { |_, _, raised_when,| raised_when.start_with?("Rust only") }

  def test_every_row_of_the_table_has_its_class
    refute_empty TABLE
    TABLE.each do |code, name, _, retryable|
      error = Polycache.const_get(name).new

      assert_kind_of Polycache::Error, error
      assert_equal code, error.code
      assert_equal retryable == "yes", error.retryable?, code
      assert_instance_of error.class, Polycache::Error.build(code, "message", {})
    end
  end

  # Of what some languages have, a sentence tells.
  def test_cached_reads_have_one_of_their_own
    error = Polycache::UncacheableRead.new

    assert_equal ["uncacheable_read", false], [error.code, error.retryable?]
  end

  def test_there_is_no_class_without_a_row
    classes = Polycache.constants.map { |name| Polycache.const_get(name) }
    errors = classes.grep(Class).select { |klass| klass < Polycache::Error }

    names = [*TABLE.map { |_, name,| name }, "UncacheableRead"]

    assert_equal names.sort, errors.map { |klass| klass.name[/\w+\z/] }.sort
  end
end
