# frozen_string_literal: true

require_relative "../errors"
require_relative "policy"
require_relative "problem"

module Polycache
  module HTTP
    # A Rack app that asks a block for what to serve, and answers as Representation#rack does. An
    # HttpProblem that the block raises becomes its problem document, an error of this gem that a
    # retry helps with 503, and any other 500; what is 500 or more is written to
    # <tt>rack.errors</tt>.
    #
    #   stream = Polycache::HTTP::Endpoint.new do |env|
    #     range = Polycache::HTTP.stream_range(env["QUERY_STRING"])
    #     reads.json.xrange("OPTIONS", range.start, range.end, count: range.count)
    #   end
    class Endpoint
      # @param options what Policy.new takes
      # @yieldparam env [Hash] of Rack
      # @yieldreturn [Representation, Composite, nil] nil is 404
      # @raise [InvalidArgument]
      def initialize(**options, &source)
        raise InvalidArgument, "an endpoint takes a block" unless source

        @policy = Policy.of(nil, options)
        @source = source
      end

      # @param env [Hash]
      # @return [Array(Integer, Hash, Array<String>)]
      def call(env)
        method = env["REQUEST_METHOD"]
        return Problem.answer(405, method).rack unless %w[GET HEAD].include?(method)

        checked(@source.call(env)).rack(env, @policy)
      rescue StandardError => e
        failed(e, method, env)
      end

      private

      def checked(subject)
        raise HttpProblem.new(404, "There is nothing here.") if subject.nil?
        return subject if subject.is_a?(Answering)

        raise InvalidArgument, "a block gives a Representation, or one within fields"
      end

      def failed(error, method, env)
        answer = Problem.of(error, method)
        env["rack.errors"]&.puts(error.full_message(highlight: false)) if answer.status >= 500
        answer.rack
      end
    end
  end
end
