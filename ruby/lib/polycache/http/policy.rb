# frozen_string_literal: true

require_relative "../errors"
require_relative "cache_control"
require_relative "codings"

module Polycache
  module HTTP
    # How representations are answered, checked and put into text once.
    class Policy
      NAME = /\A[!#$%&'*+.^_`|~0-9A-Za-z-]+\z/n
      VALUE = /\A[\t\x20-\x7e\x80-\xff]*\z/n
      KNOWN = %w[zstd br gzip].freeze
      # What the answer itself says, or the server.
      OWN = %w[
        age cache-control connection content-encoding content-length content-type date etag
        transfer-encoding vary
      ].freeze
      private_constant :NAME, :VALUE, :KNOWN, :OWN

      # Fields of every answer, 304 included (RFC 9110 15.4.5).
      # @api private
      attr_reader :always
      # @api private
      attr_reader :codings, :compress_from

      # @param cache_control [String, Hash] what caches may do, as text or in parts: +:visibility+
      #   ("public", "private"), +:max_age+, +:shared_max_age+, +:stale_while_revalidate+,
      #   +:stale_if_error+ (durations), +:no_cache+, +:no_store+, +:must_revalidate+, +:immutable+.
      #   Default: "no-cache": they keep it, and ask each time whether it is current.
      # @param vary [Array<String>] request fields that the answer was chosen by, which caches need
      #   to know (RFC 9110 12.5.5). Accept-Encoding is named where there are codings. Default: [].
      # @param codings [Array<String>] content codings that may be used, best first. Default:
      #   Codings::ALL, those that can be made here.
      # @param compress_from [Integer] bytes below which compression is not worth it. Default: 1024.
      # @param headers [Hash{String => String}] more header fields, as for CORS or security.
      #   Default: {}.
      # @raise [InvalidArgument]
      def initialize(cache_control: "no-cache", vary: [], codings: Codings::ALL,
                     compress_from: 1024, headers: {})
        check(codings, compress_from)
        # Only those that can be made here.
        @codings = codings & Codings::ALL
        @compress_from = compress_from
        text = cache_control.is_a?(Hash) ? CacheControl.text(cache_control) : cache_control
        @always = { "cache-control" => Policy.checked_value("cache-control", text) }
        names = vary.map { |name| Policy.checked_name(name) }
        names |= ["accept-encoding"] if @codings.any?
        @always["vary"] = names.join(", ") if names.any?
        headers.each { |name, value| add(Policy.checked_name(name), value) }
        @always.freeze
      end

      # The policy itself, or that of options.
      # @api private
      def self.of(policy, options)
        return policy || DEFAULT if options.empty?
        return new(**options) unless policy

        raise InvalidArgument, "give a policy or its options"
      rescue ArgumentError => e
        raise InvalidArgument, e.message
      end

      # @api private
      def self.checked_name(name)
        return name.downcase if name.is_a?(String) && NAME.match?(name.b)

        raise InvalidArgument, "#{name.inspect} is no name of a header field"
      end

      # Above all what would end the field is refused.
      # @api private
      def self.checked_value(name, value)
        return value if value.is_a?(String) && VALUE.match?(value.b)

        raise InvalidArgument, "the field #{name} cannot be #{value.inspect}"
      end

      # The same with other fields of every answer.
      # @api private
      def with_fields(always, codings)
        policy = dup
        policy.always = always.freeze
        policy.codings = codings
        policy
      end

      protected

      attr_writer :always, :codings

      private

      def check(codings, compress_from)
        unknown = codings - KNOWN
        raise InvalidArgument, "there is no coding #{unknown.join(", ")}" if unknown.any?
        return if compress_from.is_a?(Numeric) && compress_from >= 0

        raise InvalidArgument, "compress_from is a number of bytes"
      end

      def add(name, value)
        raise InvalidArgument, "the field #{name} is not set by headers" if OWN.include?(name)

        @always[name] = Policy.checked_value(name, value)
      end

      DEFAULT = new
      private_constant :DEFAULT
    end
  end
end
