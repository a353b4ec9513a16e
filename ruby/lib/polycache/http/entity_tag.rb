# frozen_string_literal: true

require "digest/sha2"

module Polycache
  module HTTP
    # Entity tags and the conditions that compare them (RFC 9110 8.8.3, 13.1).
    # @api private
    module EntityTag
      TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/n # rubocop:disable Style/RegexpLiteral
      WHOLE = /\A#{TAG}\z/n
      # An element may be empty (RFC 9110 5.6.1), and a tag may have a comma in it.
      ELEMENT = /\G[ \t]*(?:(#{TAG})[ \t]*)?(?:,|\z)/n
      private_constant :TAG, :WHOLE, :ELEMENT

      module_function

      # The strong entity tag of bytes: the first 128 bits of their SHA-256, as base64url in quotes.
      # So all processes and languages that serve the same bytes agree.
      def of(bytes)
        encoded = [Digest::SHA256.digest(bytes).byteslice(0, 16)].pack("m0")
        %("#{encoded.tr("+/", "-_").delete("=")}")
      end

      # @return [Boolean] whether text is a tag, in its quotes
      def valid?(text) = text.is_a?(String) && WHOLE.match?(text.b)

      # The same tag as a weak one.
      def weak(tag) = tag.start_with?("W/") ? tag : "W/#{tag}"

      # Whether the field If-None-Match names the tag, by weak comparison: <tt>W/</tt> makes no
      # difference. An asterisk names every one. Text that is no list of tags names none, so that
      # the answer is the whole one.
      #
      # @param tag [String, nil] nil for what has none
      def none_match?(field, tag)
        return true if field == tag || field.strip == "*"

        !tag.nil? && any?(field) { |one| opaque(one) == opaque(tag) }
      end

      # Whether the field If-Match names the tag, by strong comparison: a weak tag is equal to none.
      # An asterisk names every one.
      def match?(field, tag)
        return true if field.strip == "*"

        !tag.nil? && !tag.start_with?("W/") && any?(field) { |one| one == tag }
      end

      def opaque(tag) = tag.delete_prefix("W/")

      def any?(field)
        bytes = field.b
        found = false
        at = 0
        while at < bytes.bytesize
          element = ELEMENT.match(bytes, at)
          return false unless element

          found ||= yield(element[1]) if element[1]
          at = element.end(0)
        end
        found
      end

      private_class_method :opaque, :any?
    end
    private_constant :EntityTag
  end
end
