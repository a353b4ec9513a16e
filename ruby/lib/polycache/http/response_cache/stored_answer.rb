# frozen_string_literal: true

require_relative "../entity_tag"
require_relative "../policy"
require_relative "fields"

module Polycache
  module HTTP
    class ResponseCache
      # A complete answer as it stands in a cache (spec/http.md, "A stored answer"). Times are in
      # milliseconds since 1970.
      # @api private
      StoredAnswer = Struct.new(:status, :fields, :body, :etag, :made, :fresh_until,
                                :revalidate_until, :error_until) do
        # Until when it is of any use.
        def useful_until = [fresh_until, revalidate_until, error_until].max

        # What is stored.
        def value
          { "status" => status, "fields" => fields, "body" => body, "etag" => etag, "made" => made,
            "freshUntil" => fresh_until, "revalidateUntil" => revalidate_until,
            "errorUntil" => error_until }
        end
      end

      # In place of an answer that cannot be stored: until then each request is answered on its own.
      # @api private
      Passing = Struct.new(:why, :until) do
        def useful_until = self.until

        def value = { "pass" => why, "until" => self.until }

        def failure? = %w[failed server-error].include?(why)
      end
      private_constant :StoredAnswer, :Passing

      # What stands under a key.
      # @api private
      module Stored
        # Of one connection (RFC 9110 7.6.1), or told anew for each answer.
        DROPPED = %w[
          age cache-status connection content-length etag keep-alive proxy-authenticate
          proxy-authentication-info te trailer transfer-encoding upgrade
        ].freeze
        TIMES = %w[made freshUntil revalidateUntil errorUntil].freeze
        private_constant :DROPPED, :TIMES

        module_function

        # What is stored of an answer with this body, which was +age+ milliseconds old at +now+.
        #
        # @raise [InvalidArgument] for fields that are none
        def answer(status, fields, body, lifetime, age, now)
          etag = fields["etag"]
          fresh_until = now + lifetime.fresh
          # What is no tag is as good as none.
          etag = EntityTag.of(body) unless etag && tag?(etag)
          StoredAnswer.new(status, kept(fields), body, etag, now - age, fresh_until,
                           fresh_until + lifetime.while_revalidate, fresh_until + lifetime.if_error)
        end

        # @return [StoredAnswer, Passing, nil] nil for what is none of ours: another program may
        #   have written to the namespace
        def read(value)
          return unless value.is_a?(Hash)
          return passing(value) if value.key?("pass")

          status = number(value["status"])
          body, etag = value.values_at("body", "etag")
          times = value.values_at(*TIMES).map { |time| number(time) }
          return unless status&.between?(200, 599) && body?(body) && tag?(etag) && times.all?

          # An answer with other fields would be another one.
          fields = fields(value["fields"])
          fields && StoredAnswer.new(status, fields, body, etag, *times)
        end

        # The last change of its key that was known when its load began.
        def since(value)
          since = value["since"]
          since if since.is_a?(String)
        end

        def kept(fields)
          named = fields["connection"].to_s.split(",").map { |name| name.strip.downcase }
          kept = fields.except(*DROPPED, *named)
          kept.map { |name, value| checked(name, value) }.sort
        end

        def passing(value)
          why, til = value.values_at("pass", "until")
          # It is told to clients.
          Passing.new(why, number(til)) if number(til) && checked("cache-status", why)
        rescue InvalidArgument, EncodingError
          nil
        end

        def fields(list)
          return unless list.is_a?(Array)

          list.map do |field|
            return nil unless field.is_a?(Array) && field.size == 2

            checked(*field)
          end
        rescue InvalidArgument, EncodingError
          nil
        end

        def checked(name, value)
          name = Policy.checked_name(name)
          raise InvalidArgument, "no text: #{value.inspect}" unless value.is_a?(String)

          Policy.checked_value(name, Fields.bytes(value))
          [name, value]
        end

        def body?(body) = body.is_a?(String) && body.encoding == Encoding::BINARY

        def tag?(etag) = etag.is_a?(String) && etag.ascii_only? && EntityTag.valid?(etag)

        # JavaScript may have stored a fraction.
        def number(value)
          case value
          when Integer then value
          when Float then value.to_i if value.finite?
          end
        end

        private_class_method :kept, :passing, :fields, :checked, :body?, :tag?, :number
      end
      private_constant :Stored
    end
  end
end
