# frozen_string_literal: true

require_relative "answering"
require_relative "entity_tag"
require_relative "variant"

module Polycache
  module HTTP
    # <tt>{"value":<bytes>,...}</tt>: what Representation#within makes, a small JSON document around
    # a value, put together without touching the value's bytes.
    class Composite
      include Answering

      # @api private
      def initialize(representation, envelope, tail, incidental)
        @representation = representation
        @envelope = envelope
        @tail = tail.b.freeze
        @incidental = incidental
      end

      # @return [String] the document's bytes, joined anew at each call
      def bytes = @envelope.plain(@tail).join

      # @return [Integer] number of its bytes
      def size = @envelope.plain(@tail).sum(&:bytesize)

      # @return [String] the document
      def text = bytes.force_encoding(Encoding::UTF_8)

      # @return [String, nil] the weak tag of the value where the fields are incidental, else nil
      def etag = (EntityTag.weak(@representation.etag) if @incidental)

      # gzip, which allows a value that was compressed before among text that was not.
      # @api private
      def codings(policy) = policy.codings & ["gzip"]

      # It is JSON.
      # @api private
      def compressed? = false

      # The tag is the value's, so what a client has is known before anything is compressed.
      # @api private
      def validated(_coding, policy)
        Variant::Validated.new(etag, { **@representation.around(policy).aged, **tag })
      end

      # @api private
      def whole(coding, policy)
        is_gzip = coding == "gzip"
        body = is_gzip ? @envelope.gzip(@tail) : @envelope.plain(@tail)
        fields = @representation.around(policy).described.dup
        fields["content-encoding"] = "gzip" if is_gzip
        fields["etag"] = etag if @incidental
        fields["content-length"] = body.sum(&:bytesize).to_s
        Variant::Whole.new(fields, body)
      end

      # @return [String]
      def inspect = "#<#{self.class} around #{@representation.inspect}>"

      private

      def tag = @incidental ? { "etag" => etag } : {}
    end
  end
end
