# frozen_string_literal: true

require_relative "../../memory_cache"
require_relative "../answering"
require_relative "../representation"
require_relative "directives"
require_relative "fields"

module Polycache
  module HTTP
    class ResponseCache
      # Hands out answers; the representations of those used last are kept, so that each variant is
      # compressed once.
      # @api private
      class HandedOut
        # Most bytes of bodies that are kept with their variants.
        MOST = 1 << 25
        # A stored answer whose compressed variants are kept.
        Kept = Struct.new(:made, :representation, :policies)
        private_constant :MOST, :Kept

        def initialize(settings)
          @settings = settings
          weigher = ->(key, kept) { key.bytesize + kept.representation.size + 256 }
          @kept = MemoryCache.new(max_bytes: MOST, weigher: weigher, isolation: "none")
        end

        # The answer to a request from a stored one.
        #
        # @param status [String] for the field Cache-Status
        # @return [Array(Integer, Hash, Array<String>)] what a Rack app returns
        def rack(key, stored, env, status)
          return other(stored, env, status) unless stored.status == 200

          kept = kept(key, stored)
          policy = kept.policies[status] ||= policy(stored, status)
          kept.representation.rack(env, policy)
        end

        private

        def kept(key, stored)
          known = @kept.get(key)
          return known if known && known.made == stored.made &&
                          known.representation.etag == stored.etag

          type = fields(stored).fetch("content-type", "")
          representation = Representation.new(
            stored.body, content_type: type, etag: stored.etag,
                         stored_at: Time.at(stored.made / 1000r), clock: @settings.method(:now)
          )
          kept = Kept.new(stored.made, representation, {})
          begin
            @kept.set(key, kept)
          rescue EntryTooLarge
            # It is made each time.
          end
          kept
        end

        def fields(stored) = stored.fields.to_h.transform_values { |text| Fields.bytes(text) }

        # The stored fields, as a policy has them; those of the content are the representation's.
        def policy(stored, status)
          always = fields(stored)
          said = always.delete("vary").to_s.split(",").map { |name| name.strip.downcase }
          # RFC 9111 5.2.2.6.
          as_it_is = Directives.new(always["cache-control"]).has?("no-transform")
          codings = as_it_is ? [] : @settings.policy.codings
          coded = codings.any? ? ["accept-encoding"] : []
          vary = (said - [""]) | @settings.vary | coded
          always.delete("content-type")
          always["vary"] = vary.join(", ") if vary.any?
          always["cache-status"] = "polycache; #{status}" if @settings.cache_status?
          @settings.policy.with_fields(always, codings)
        end

        # An answer with another status has no conditions (RFC 9110 13.2.1).
        def other(stored, env, status)
          type = fields(stored).slice("content-type")
          age = [@settings.now - stored.made, 0].max / 1000
          headers = { **policy(stored, status).always, "age" => age.to_s }
          return [204, headers, []] if stored.status == 204
          return [stored.status, { **type, **headers }, []] if stored.status == 205

          length = { "content-length" => stored.body.bytesize.to_s }
          body = env["REQUEST_METHOD"] == "HEAD" ? [] : [stored.body]
          [stored.status, { **type, **headers, **length }, body]
        end
      end
      private_constant :HandedOut
    end
  end
end
