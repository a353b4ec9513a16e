# frozen_string_literal: true

require "securerandom"

module Polycache
  # A UUID as a value, distinct from its text; Ruby has no such class.
  #
  #   Polycache::UUID.new("018bcfe5-6800-7abc-8def-0123456789ab")
  class UUID
    include Comparable

    TEXT = /\A\h{8}-\h{4}-\h{4}-\h{4}-\h{12}\z/
    private_constant :TEXT

    # @return [String] 16 bytes in the order of RFC 9562, frozen
    attr_reader :bytes

    # @return [UUID] a new random one (version 4)
    def self.random = new(SecureRandom.uuid)

    # @param bytes [String] 16 bytes
    # @return [UUID]
    # @raise [InvalidArgument] when they are not 16
    def self.from_bytes(bytes) = new(bytes.unpack("H8H4H4H4H*").join("-"))

    # @param text [String] 32 hexadecimal digits with four hyphens
    # @raise [InvalidArgument] for any other text
    def initialize(text)
      unless text.is_a?(String) && TEXT.match?(text)
        raise InvalidArgument, "not a UUID (32 hexadecimal digits, four hyphens): #{text.inspect}"
      end

      @bytes = [text.delete("-")].pack("H*").freeze
      freeze
    end

    # @return [String] lower-case digits with hyphens
    def to_s = bytes.unpack("H8H4H4H4H12").join("-")

    # @return [String]
    def inspect = "#<#{self.class} #{self}>"

    # @return [Integer, nil] the order of the bytes; nil for what is not a UUID
    def <=>(other) = other.is_a?(UUID) ? bytes <=> other.bytes : nil

    # @return [Boolean]
    def eql?(other) = other.is_a?(UUID) && bytes == other.bytes

    # @return [Integer]
    def hash = [UUID, bytes].hash
  end
end
