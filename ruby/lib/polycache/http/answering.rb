# frozen_string_literal: true

require_relative "accept_encoding"
require_relative "entity_tag"
require_relative "policy"
require_relative "problem"

module Polycache
  module HTTP
    # What HTTP says to a request for a representation (RFC 9110): one decision for every server.
    #
    # - 405 for another method than GET and HEAD,
    # - 406 where nothing that there is is acceptable (RFC 9110 12.5.3),
    # - 412 where If-Match names another tag, 304 where If-None-Match names this one (RFC 9110
    #   13.2.2),
    # - else 200. A Range is not served, as a server may do (RFC 9110 14.2); nothing has a
    #   Last-Modified.
    module Answering
      # @param method [String] as "GET"
      # @param headers [#[]] fields of the request by their names in lower case, as "if-none-match"
      # @param policy [Policy, nil] nil: what the options make. One that is used again costs least.
      #   Default: nil.
      # @param options what Policy.new takes
      # @return [Answer]
      # @raise [InvalidArgument] for a wrong option
      def respond(method, headers, policy = nil, **options)
        answer_fields(method, headers["if-match"], headers["if-none-match"],
                      headers["accept-encoding"], Policy.of(policy, options))
      end

      # As +respond+, of a request of Rack.
      #
      # @param env [Hash]
      # @return [Array(Integer, Hash, Array<String>)] what a Rack app returns
      def rack(env, policy = nil, **options)
        answer_fields(env["REQUEST_METHOD"], env["HTTP_IF_MATCH"], env["HTTP_IF_NONE_MATCH"],
                      env["HTTP_ACCEPT_ENCODING"], Policy.of(policy, options)).rack
      end

      private

      def answer_fields(method, if_match, if_none_match, accept_encoding, policy)
        return Problem.answer(405, method) unless %w[GET HEAD].include?(method)

        coding = AcceptEncoding.choose(accept_encoding, codings(policy),
                                       small: size < policy.compress_from || compressed?)
        return Problem.answer(406, method) unless coding

        if if_match || if_none_match
          decided = conditional(coding, policy, method, if_match, if_none_match)
          return decided if decided
        end
        whole = whole(coding, policy)
        Answer.new(200, whole.fields, method == "HEAD" ? [] : whole.body)
      end

      # @return [Answer, nil] nil where the whole is to be sent
      def conditional(coding, policy, method, if_match, if_none_match)
        validated = validated(coding, policy)
        etag = validated.etag
        return Problem.answer(412, method) if if_match && !EntityTag.match?(if_match, etag)

        return unless if_none_match && EntityTag.none_match?(if_none_match, etag)

        Answer.new(304, validated.not_modified, [])
      end
    end

    # An answer: its status, its header fields by their names in lower case, and the parts of its
    # body; none, as for HEAD, is an empty list.
    Answer = Struct.new(:status, :headers, :body) do
      # @return [Array(Integer, Hash, Array<String>)] what a Rack app returns; middlewares may
      #   change the headers
      def rack = [status, headers.dup, body]
    end
  end
end
