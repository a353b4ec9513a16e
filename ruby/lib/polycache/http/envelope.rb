# frozen_string_literal: true

require "zlib"

require_relative "json"

module Polycache
  module HTTP
    # The beginning of documents, <tt>{"value":</tt> and the value, plain and in gzip. In gzip the
    # value is compressed once (RFC 1952, RFC 1951 3.2.4): the text around it is stored as it is.
    # @api private
    class Envelope
      # Deflate, no name, no time, an unknown system.
      HEADER = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff].pack("C*").freeze
      # Most bytes of a stored block.
      BLOCK = 0xffff
      private_constant :HEADER, :BLOCK

      attr_reader :name

      # @param value [String] bytes that are JSON
      def initialize(name, value)
        @name = name
        @head = "{#{Json.of(name)}:".b.freeze
        @value = value
        # Servers write each part by itself: one less is worth a copy for all documents.
        @beginning = (@head + value.b).freeze
        @lock = Mutex.new
      end

      # @return [Array<String>] the parts of a document with this text after the value
      def plain(tail) = [@beginning, tail]

      # The same in gzip.
      def gzip(tail)
        begin_gzip unless @gzip
        size = (@beginning.bytesize + tail.bytesize) % (2**32)
        [*@gzip, stored(tail, last: true) + [Zlib.crc32(tail, @crc), size].pack("VV")]
      end

      private

      # Callers that ask meanwhile wait for it.
      def begin_gzip
        @lock.synchronize do
          next if @gzip

          @crc = Zlib.crc32(@beginning)
          @gzip = [(HEADER + stored(@head, last: false)).freeze, deflated.freeze].freeze
        end
      end

      # With no last block, and ending with a whole byte.
      def deflated
        deflate = Zlib::Deflate.new(6, -Zlib::MAX_WBITS)
        deflate.deflate(@value, Zlib::SYNC_FLUSH)
      ensure
        # It is left unfinished.
        deflate&.reset
        deflate&.close
      end

      # Bytes as blocks that are not compressed. Each begins and ends with a whole byte.
      def stored(bytes, last:)
        blocks = "".b
        (0...bytes.bytesize).step(BLOCK) do |at|
          part = bytes.byteslice(at, BLOCK)
          ends = last && at + BLOCK >= bytes.bytesize
          size = part.bytesize
          blocks << [ends ? 1 : 0, size, size ^ 0xffff].pack("Cvv") << part.b
        end
        blocks
      end
    end
    private_constant :Envelope
  end
end
