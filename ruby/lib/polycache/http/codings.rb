# frozen_string_literal: true

require "zlib"

require_relative "../errors"
require_relative "../extension"

module Polycache
  module HTTP
    # Content codings (RFC 9110 8.4.1): gzip (RFC 1952) by Ruby's zlib, Zstandard (RFC 8878) by the
    # native extension or else the gem zstd-ruby, and Brotli (RFC 7932) by the gem brotli.
    #
    # Quality 5 of Brotli and level 3 of Zstandard take a few milliseconds for a megabyte of JSON.
    module Codings
      # @return [#call, nil] what compresses by a gem; nil where it is not installed
      def self.of_gem(name)
        require name
        yield
      rescue LoadError
        nil
      end

      def self.zstd
        return ->(bytes) { Native::Codings.zstd(bytes, 3) } unless Extension::MISSING

        of_gem("zstd-ruby") { ->(bytes) { ::Zstd.compress(bytes, level: 3) } }
      end

      # Not by Zlib.gzip, which writes the time: the same bytes are to have the same entity tag.
      def self.gzip(bytes)
        deflate = Zlib::Deflate.new(6, Zlib::MAX_WBITS + 16)
        deflate.deflate(bytes, Zlib::FINISH)
      ensure
        deflate&.close
      end

      COMPRESSORS = {
        "zstd" => zstd,
        "br" => of_gem("brotli") { ->(bytes) { ::Brotli.deflate(bytes, quality: 5) } },
        "gzip" => method(:gzip)
      }.compact.freeze
      private_constant :COMPRESSORS
      private_class_method :of_gem, :zstd, :gzip

      # The codings that can be made here, best first: Zstandard costs least of those that make
      # small bodies.
      ALL = COMPRESSORS.keys.freeze

      # @param coding [String]
      # @return [String]
      # @raise [InvalidArgument] for a coding that cannot be made here
      # @api private
      def self.compress(bytes, coding)
        compressor = COMPRESSORS[coding]
        return compressor.call(bytes).b if compressor

        raise InvalidArgument, "#{ALL.join(", ")} can be made here, and not #{coding}"
      end
    end
  end
end
