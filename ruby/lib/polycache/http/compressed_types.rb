# frozen_string_literal: true

module Polycache
  module HTTP
    # Media types whose bytes are compressed already (spec/http/compressed-types.json).
    # @api private
    module CompressedTypes
      TYPES = %w[
        application/epub+zip
        application/gzip
        application/java-archive
        application/vnd.oasis.opendocument.presentation
        application/vnd.oasis.opendocument.spreadsheet
        application/vnd.oasis.opendocument.text
        application/vnd.openxmlformats-officedocument.presentationml.presentation
        application/vnd.openxmlformats-officedocument.spreadsheetml.sheet
        application/vnd.openxmlformats-officedocument.wordprocessingml.document
        application/vnd.rar
        application/x-7z-compressed
        application/x-bzip2
        application/x-gzip
        application/x-xz
        application/zip
        application/zstd
        font/woff
        font/woff2
        image/apng
        image/avif
        image/gif
        image/heic
        image/heif
        image/jpeg
        image/jxl
        image/png
        image/webp
      ].freeze
      FAMILIES = %w[audio video].freeze

      # @return [Boolean] whether a content coding would only cost time
      def self.include?(content_type)
        type = content_type[/\A[^;]*/].strip.downcase
        family, slash, = type.partition("/")
        TYPES.include?(type) || (slash == "/" && FAMILIES.include?(family))
      end
    end
    private_constant :CompressedTypes
  end
end
