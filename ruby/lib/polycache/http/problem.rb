# frozen_string_literal: true

require_relative "../errors"
require_relative "json"

module Polycache
  module HTTP
    # A request cannot be answered as it stands. It becomes a problem document with its status (RFC
    # 9457).
    class HttpProblem < Error
      # What +code+ says.
      CODE = "http_problem"

      # @return [Integer] the status of the answer, 400 to 599
      attr_reader :status
      # @return [Hash] more members of the document, as the name of the parameter
      attr_reader :members

      # @param detail [String] what was wrong and what to do; clients see it
      def initialize(status, detail, members = {})
        super(detail)
        @status = status
        @members = members
      end

      # @return [Boolean] whether the same request may succeed later: for 429, 502, 503 and 504
      def retryable? = [429, 502, 503, 504].include?(status)
    end

    # Problem documents (RFC 9457): what was wrong with a request, for programs and people.
    module Problem
      # The title of each status that is answered with here (RFC 9110 15).
      TITLES = {
        400 => "Bad Request", 401 => "Unauthorized", 403 => "Forbidden", 404 => "Not Found",
        405 => "Method Not Allowed", 406 => "Not Acceptable", 409 => "Conflict",
        412 => "Precondition Failed", 413 => "Content Too Large", 414 => "URI Too Long",
        429 => "Too Many Requests", 500 => "Internal Server Error", 502 => "Bad Gateway",
        503 => "Service Unavailable", 504 => "Gateway Timeout"
      }.freeze
      DETAILS = {
        405 => "Only GET and HEAD are answered here.",
        406 => "Accept-Encoding refuses every coding that there is, and the bytes without one.",
        412 => "If-Match does not name what is here now."
      }.freeze
      private_constant :TITLES, :DETAILS

      module_function

      # The answer for a status, as a problem document that nobody stores; without a body for HEAD.
      #
      # @param status [Integer] 400 to 599
      # @param method [String] of the request
      # @param detail [String, nil] what was wrong. Default: a text for the status, if there is one.
      # @param members [Hash] more members of the document. Default: {}.
      # @return [Answer]
      def answer(status, method, detail = DETAILS[status], members = {})
        members = members.transform_keys(&:to_s)
        document = { **members, "type" => members.fetch("type", "about:blank"),
                                "title" => TITLES.fetch(status, "Error"), "status" => status }
        document["detail"] = detail if detail
        body = Json.of(document)
        headers = { "content-type" => "application/problem+json", "cache-control" => "no-store" }
        headers["allow"] = "GET, HEAD" if status == 405
        headers["content-length"] = body.bytesize.to_s
        Answer.new(status, headers, method == "HEAD" ? [] : [body])
      end

      # The answer for an error: of an HttpProblem its own; of an error of this gem that a retry
      # helps with 503; of any other 500, which says nothing of it.
      #
      # @return [Answer]
      def of(error, method)
        case error
        when HttpProblem then answer(error.status, method, error.message, error.members)
        when ->(one) { one.is_a?(Error) && one.retryable? }
          answer(503, method, "The data is not available now; try again.")
        else answer(500, method, "The server failed; its log says why.")
        end
      end
    end
  end
end
