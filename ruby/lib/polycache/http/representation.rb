# frozen_string_literal: true

require_relative "../errors"
require_relative "answering"
require_relative "codings"
require_relative "compressed_types"
require_relative "composite"
require_relative "entity_tag"
require_relative "envelope"
require_relative "policy"
require_relative "variant"

module Polycache
  module HTTP
    # Bytes that are served over HTTP: encoded once, with a strong entity tag and compressed
    # variants, each made when it is first asked for. One representation serves any number of
    # requests and threads; its bytes never change.
    #
    #   page = Polycache::HTTP::Representation.new("[1,2,3]")
    #   status, headers, body = page.rack(env)
    class Representation
      include Answering

      JSON_TYPE = %r{\Aapplication/(?:[\w.+-]+\+)?json(?:[ \t]*;|\z)}i
      private_constant :JSON_TYPE

      # @return [String] the media type, as "application/json"
      attr_reader :content_type
      # @return [Time, nil] when the bytes were last known to be current; nil where they are
      attr_reader :stored_at

      # @param bytes [String]
      # @param content_type [String] the media type. Default: "application/json".
      # @param stored_at [Time, nil] when the bytes were last known to be current, for the field Age
      #   (RFC 9111 5.1); nil: they are current, so there is no Age. Default: nil.
      # @param etag [String, nil] the entity tag of the bytes, where they have one already; nil: a
      #   hash of them. Default: nil.
      # @param clock [#call, nil] returns milliseconds since 1970, for tests; nil is the system's.
      #   Default: nil.
      # @raise [InvalidArgument]
      def initialize(bytes, content_type: "application/json", stored_at: nil, etag: nil, clock: nil)
        @content_type = Policy.checked_value("content-type", content_type)
        check(bytes, stored_at, etag)
        @stored_at = stored_at
        @compressed = CompressedTypes.include?(@content_type)
        @clock = clock
        @identity = Variant.new(bytes.frozen? ? bytes.b.freeze : bytes.b, "identity",
                                @content_type, etag)
        @variants = {}
        @lock = Mutex.new
      end

      # @return [String] the bytes, without a content coding; frozen, with the encoding BINARY
      def bytes = @identity.bytes

      # @return [Integer] number of bytes
      def size = bytes.bytesize

      # @return [String] the bytes as text
      def text = bytes.dup.force_encoding(Encoding::UTF_8)

      # @return [String] the entity tag of the bytes, a strong one unless another was given (RFC
      #   9110 8.8.3). A compressed variant has another one.
      def etag = @identity.etag

      # The bytes in a content coding, which is made when it is first asked for. Callers that ask
      # meanwhile wait for it.
      #
      # @param coding [String] one of Codings::ALL
      # @return [String]
      # @raise [InvalidArgument] for a coding that cannot be made here
      def encoded(coding) = variant(coding).bytes

      # A JSON document with these bytes, which are JSON themselves, as its first member and with
      # fields of your own: <tt>{"value":<bytes>,"start":1,"end":2}</tt>. The bytes are neither
      # parsed nor encoded again.
      #
      # @param name [String, Symbol]
      # @param fields [Hash] nil, true, false, numbers, text, Time, Arrays and Hashes of these
      # @param incidental [Boolean] the fields do not matter to a client that has the value already,
      #   as times of reading it: the document has the value's tag as a weak one, and a client that
      #   has the value gets 304. Default: false; the document has no tag.
      # @return [Composite]
      # @raise [InvalidArgument] for a representation that is not JSON, where a field has the same
      #   name, or where a field is no JSON
      def within(name, fields = {}, incidental: false)
        name = name.to_s
        Composite.new(self, envelope(name), tail(name, fields), incidental)
      end

      # The codings of a policy in which it can be had.
      # @api private
      def codings(policy) = policy.codings

      # Whether its bytes are compressed already, so that a coding would only cost time.
      # @api private
      def compressed? = @compressed

      # The tag and the fields of 304, for a client that accepts this coding.
      # @api private
      def validated(coding, policy) = variant(coding).selected(policy, age)

      # The fields and the body of 200.
      # @api private
      def whole(coding, policy) = variant(coding).selected(policy, age)

      # What answers with a document around the bytes have in common.
      # @api private
      def around(policy) = @identity.selected(policy, age)

      # @return [String]
      def inspect = "#<#{self.class} #{content_type} of #{size} bytes>"

      private

      def check(bytes, stored_at, etag)
        raise InvalidArgument, "bytes are a String" unless bytes.is_a?(String)
        raise InvalidArgument, "stored_at is a Time" unless stored_at.nil? || stored_at.is_a?(Time)
        return if etag.nil? || EntityTag.valid?(etag)

        raise InvalidArgument, "#{etag.inspect} is no entity tag: write '\"v1\"' with the quotes"
      end

      def variant(coding)
        return @identity if coding == "identity"

        @variants[coding] || @lock.synchronize do
          @variants[coding] ||=
            Variant.new(Codings.compress(bytes, coding), coding, @content_type, nil)
        end
      end

      def envelope(name)
        unless JSON_TYPE.match?(content_type)
          raise InvalidArgument, "only JSON has fields around it, and this is #{content_type}"
        end

        envelope = @envelope
        envelope&.name == name ? envelope : @envelope = Envelope.new(name, bytes)
      end

      def tail(name, fields)
        raise InvalidArgument, "fields are a Hash" unless fields.is_a?(Hash)
        if fields.any? { |field, _| field.to_s == name }
          raise InvalidArgument, "#{name} is the name of the value; a field needs another one"
        end

        fields.empty? ? "}" : ",#{Json.of(fields).byteslice(1..)}"
      end

      # In whole seconds; nil for what is current. A clock that was set back makes nothing younger
      # than 0.
      def age
        return unless @stored_at

        now = @clock ? @clock.call / 1000r : Time.now.to_r
        [(now - @stored_at.to_r).floor, 0].max
      end
    end
  end
end
