# frozen_string_literal: true

require_relative "helper"

# Ranges of a stream's ids.
class StreamRangeTest < Minitest::Test
  LAST = "18446744073709551615"

  def read(query) = Polycache::HTTP.stream_range(query, max_count: 100)

  def test_ranges
    {
      nil => ["-", "+", 100], "" => ["-", "+", 100],
      "start=5&end=6-1&count=7" => ["5", "6-1", 7], "start=(5-1&end=(6" => ["(5-1", "(6", 100],
      "start=-&end=+" => ["-", "+", 100], "end=%2B&other=1" => ["-", "+", 100],
      "start=#{LAST}-#{LAST}" => ["#{LAST}-#{LAST}", "+", 100]
    }.each { |query, range| assert_equal range, read(query).to_a, query.inspect }
  end

  def test_what_is_none
    %W{
      start= start=a start=1- start=-1 start=1-2-3 start=((1 start=[1 start=1%0D%0A2 start=1%0A
      start=18446744073709551616 start=(#{LAST}-#{LAST} start=(#{LAST} end=(0-0 start=1&start=1
      start=%FF count=0 count=101 count=-1 count=1.5 count=1e1 count= count=1&count=2 count=1%0A
    }.each do |query|
      error = assert_raises(Polycache::HTTP::HttpProblem, query) { read(query) }
      assert_equal [400, query[/\w+/]], [error.status, error.members[:parameter]]
    end
    assert_equal 400, assert_raises(Polycache::HTTP::HttpProblem) { read("start=%") }.status
    assert_raises(Polycache::InvalidArgument) { Polycache::HTTP.stream_range("", max_count: 0) }
  end
end
