# frozen_string_literal: true

module Polycache
  module HTTP
    class ResponseCache
      # Reads the field Cache-Control (RFC 9111 5.2).
      # @api private
      class Directives
        TOKEN = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/n
        DIRECTIVE = /\G[ \t]*(?:(#{TOKEN})(?:=(?:(#{TOKEN})|"((?:[^"\\]|\\.)*)"))?[ \t]*)?(?:,|\z)/n
        MOST = 2**31
        private_constant :TOKEN, :DIRECTIVE, :MOST

        # A whole number of seconds, nil where it is none; one that is too large is as good as for
        # ever.
        def self.whole_seconds(text) = text&.match?(/\A[0-9]+\z/n) ? [text.to_i, MOST].min : nil

        # Of a repeated directive the first counts. What follows after an error of syntax is not
        # read, but names in it still count: a cache that is in doubt does not store.
        #
        # @param field [String, nil]
        def initialize(field)
          @found = {}
          read(field.b) if field
        end

        # @param name [String] in lower case
        def has?(name) = @found.key?(name)

        # The seconds of a directive: nil where it is absent, 0 where they are no whole number (RFC
        # 9111 4.2.1).
        def seconds(name)
          text = @found[name]
          text && (Directives.whole_seconds(text) || 0)
        end

        private

        def read(field)
          at = 0
          while at < field.bytesize
            match = DIRECTIVE.match(field, at)
            unless match
              field.byteslice(at..).downcase.scan(/[a-z-]+/n) { |word| @found[word] ||= "" }
              break
            end
            name, token, quoted = match.captures
            @found[name.downcase] ||= token || quoted || "" if name
            at = match.end(0)
          end
        end
      end
      private_constant :Directives
    end
  end
end
