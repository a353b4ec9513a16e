# frozen_string_literal: true

require "time"

require_relative "directives"

module Polycache
  module HTTP
    class ResponseCache
      # How long an answer may be served, in milliseconds from now on: +fresh+, not above 0 for what
      # is stale at once; after that +while_revalidate+, while a newer one is fetched, and
      # +if_error+, where no newer one can be had.
      # @api private
      Lifetime = Struct.new(:fresh, :while_revalidate, :if_error)
      private_constant :Lifetime

      # What a shared cache may store, and for how long (RFC 9111 3 and 4.2, RFC 5861).
      # @api private
      module Storable
        # Those that may be stored without being told so (RFC 9110 15.1), apart from those of parts
        # of a body.
        BY_DEFAULT = [200, 203, 204, 300, 301, 308, 404, 410].freeze
        # Their meaning needs a request of its own, or the whole is missing.
        NEVER = [206, 304, 401, 407, 412, 416, 426].freeze
        # +no-cache+ also with names of fields: the rest could be stored, but is not worth the
        # trouble.
        FORBIDDING = %w[no-store private no-cache].freeze
        private_constant :BY_DEFAULT, :NEVER, :FORBIDDING

        module_function

        # @param keyed [Array<String>] request fields that belong to the key or that the key stands
        #   for
        # @param defaults [Lifetime] for answers that name none; +fresh+ may be nil
        # @param now [Integer] milliseconds since 1970
        # @return [Lifetime, String] how long it may be served to all who have the same key, or why
        #   to nobody else
        def lifetime(status, fields, keyed, defaults, now)
          return "server-error" if status >= 500
          return "status" if status < 200 || NEVER.include?(status)
          return "set-cookie" if fields.key?("set-cookie")

          directives = Directives.new(fields["cache-control"])
          forbidding = FORBIDDING.find { |name| directives.has?(name) }
          return forbidding if forbidding
          return "vary" unless keyed?(fields["vary"], keyed)
          # A body without a coding serves every client: we make the codings.
          return "content-encoding" if fields.key?("content-encoding")
          # It never ends, and would be waited for.
          return "event-stream" if fields["content-type"]&.match?(%r{\Atext/event-stream}i)

          freshness(status, fields, directives, defaults, now)
        end

        # How old an answer says that it is already, in milliseconds.
        def age(fields) = (Directives.whole_seconds(fields["age"]) || 0) * 1000

        # Whether all that an answer was chosen by is in the key.
        def keyed?(vary, keyed)
          vary.to_s.split(",").all? do |name|
            name = name.strip.downcase
            name.empty? || name == "accept-encoding" || keyed.include?(name)
          end
        end

        def freshness(status, fields, directives, defaults, now)
          shared = told(directives, "s-maxage")
          base = shared || told(directives, "max-age") || expires(fields, now)
          base ||= defaults.fresh if BY_DEFAULT.include?(status)
          return defaults.fresh ? "status" : "no-lifetime" unless base

          stale = stale(directives, shared, defaults)
          fresh = base - age(fields)
          return "no-lifetime" unless (fresh + stale.max).positive?

          Lifetime.new(fresh, *stale)
        end

        # With s-maxage an answer is served stale only if it says so itself (RFC 9111 4.2.4).
        def stale(directives, shared, defaults)
          return [0, 0] if directives.has?("must-revalidate") || directives.has?("proxy-revalidate")

          [["stale-while-revalidate", defaults.while_revalidate],
           ["stale-if-error", defaults.if_error]].map do |name, default|
            told(directives, name) || (shared ? 0 : default)
          end
        end

        def told(directives, name)
          seconds = directives.seconds(name)
          seconds && (seconds * 1000)
        end

        # What Expires gives, in milliseconds; a date that cannot be read is past.
        def expires(fields, now)
          return unless fields.key?("expires")

          til = time(fields["expires"])
          return 0 unless til

          (til - (time(fields["date"]) || now)).div(1000) * 1000
        end

        # A date of HTTP in milliseconds since 1970.
        def time(field)
          Time.httpdate(field).to_i * 1000 if field
        rescue ArgumentError
          nil
        end

        private_class_method :keyed?, :freshness, :stale, :told, :expires, :time
      end
      private_constant :Storable
    end
  end
end
