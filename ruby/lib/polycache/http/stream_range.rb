# frozen_string_literal: true

require "uri"

require_relative "problem"

module Polycache
  module HTTP
    # Which entries of a stream are asked for, as XRANGE takes them: +start+ is "-", an id, or an id
    # after "(" that is itself left out; +end+ the same with "+"; +count+ is the most entries.
    StreamRange = Struct.new(:start, :end, :count) # rubocop:disable Lint/StructNewOverride

    # Reads a query for +stream_range+.
    # @api private
    class StreamRangeQuery
      ID = /\A(\(?)([0-9]{1,20})(?:-([0-9]{1,20}))?\z/n
      COUNT = /\A[0-9]{1,15}\z/n
      LARGEST = (2**64) - 1
      private_constant :ID, :COUNT, :LARGEST

      def initialize(query)
        @given = URI.decode_www_form(query.to_s.b).group_by(&:first)
      rescue ArgumentError
        raise HttpProblem.new(400, "The query is not encoded as RFC 3986 has it.")
      end

      def range(max_count)
        StreamRange.new(id("start", "-"), id("end", "+"), count(max_count))
      end

      private

      def only(name)
        given = @given.fetch(name, [])
        refuse(name, "is given more than once") if given.size > 1
        given.first&.last&.b
      end

      def id(name, without)
        given = only(name)
        return without if given.nil?
        return given if %w[- +].include?(given)
        return "+" if given == " "

        left, milliseconds, sequence = ID.match(given)&.captures
        if milliseconds.nil? || milliseconds.to_i > LARGEST || sequence.to_i > LARGEST
          refuse(name, "is no id: write 1700000000010-0, (1700000000010-0, - or +")
        elsif left == "(" && last?(name, milliseconds.to_i, sequence)
          refuse(name, "leaves out the last id that there is, so nothing is left")
        end
        given
      end

      # Redis refuses to go beyond these.
      def last?(name, milliseconds, sequence)
        return milliseconds.zero? && sequence.to_i.zero? if name == "end"

        milliseconds == LARGEST && (sequence.nil? || sequence.to_i == LARGEST)
      end

      def count(max_count)
        given = only("count")
        return max_count if given.nil?

        count = COUNT.match?(given) ? given.to_i : 0
        return count if count.between?(1, max_count)

        refuse("count", "is no whole number from 1 to #{max_count}")
      end

      def refuse(parameter, why)
        raise HttpProblem.new(400, "The parameter #{parameter} #{why}.", { parameter: parameter })
      end
    end
    private_constant :StreamRangeQuery

    # Reads +start+, +end+ and +count+ of a query. Ids are Redis' own: <tt>1700000000010-0</tt>,
    # <tt>1700000000010</tt> for all of a millisecond, and <tt>(1700000000010-0</tt> for what comes
    # after; "-" and "+" are the ends, and <tt>end=+</tt> may stay as it is though a plus in a query
    # means a space. Other parameters are left to you.
    #
    # @param query [String, nil] as env["QUERY_STRING"]
    # @param max_count [Integer] most entries of an answer; also where the query names no count.
    #   Default: 10000.
    # @return [StreamRange]
    # @raise [HttpProblem] with status 400 and the member +parameter+ for what is given twice, is no
    #   id, or is no count from 1 to +max_count+
    def self.stream_range(query, max_count: 10_000)
      unless max_count.is_a?(Integer) && max_count.positive?
        raise InvalidArgument, "max_count is a whole number from 1 on, not #{max_count.inspect}"
      end

      StreamRangeQuery.new(query).range(max_count)
    end
  end
end
