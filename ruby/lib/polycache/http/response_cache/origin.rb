# frozen_string_literal: true

require "stringio"

require_relative "fields"
require_relative "request_key"

module Polycache
  module HTTP
    class ResponseCache
      # A handler's complete answer; or why it is not stored.
      # @api private
      Whole = Struct.new(:status, :fields, :body)
      private_constant :Whole

      # The app, for one request.
      # @api private
      class Origin
        # Of an env: what the key stands for, and what the server is.
        SEEN = %w[
          SCRIPT_NAME PATH_INFO QUERY_STRING SERVER_PROTOCOL HTTP_VERSION HTTPS rack.version
          rack.url_scheme rack.errors rack.multithread rack.multiprocess rack.run_once
        ].freeze
        # Conditions, ranges and codings are not the business of a handler whose answer may be
        # stored.
        NEVER = %w[
          accept-encoding if-match if-none-match if-modified-since if-unmodified-since if-range
          range
        ].freeze
        private_constant :SEEN, :NEVER

        def initialize(app, env, fields, settings)
          @app = app
          @env = env
          @fields = fields
          @settings = settings
        end

        # The app's answer to the whole request.
        def ask = @app.call(@env)

        # Its answer to the request as one sees it who knows only what belongs to the key. It is
        # read no longer than it may be stored.
        #
        # @yieldparam status [Integer]
        # @yieldparam fields [Hash]
        # @yieldreturn [String, nil] why it is not stored
        # @return [Whole, String] or why it is not stored
        def make
          status, headers, body = @app.call(seen)
          begin
            fields = Fields.of_answer(headers)
            why = yield(status.to_i, fields)
            return why if why
            # A body that writes itself may never end, and the server has lent it the connection.
            return "streaming" if fields.key?("rack.hijack") || !body.respond_to?(:each)

            read(body)&.then { |bytes| Whole.new(status.to_i, fields, bytes) } || "too-large"
          ensure
            body.close if body.respond_to?(:close)
          end
        end

        private

        # @return [String, nil] the whole body; nil for one that is too large
        def read(body)
          bytes = String.new(encoding: Encoding::BINARY)
          body.each do |chunk|
            return nil if bytes.bytesize + chunk.bytesize > @settings.max_body

            bytes << chunk.b
          end
          bytes
        end

        def seen
          known = @env.slice(*SEEN, *@settings.extensions)
          own = { "REQUEST_METHOD" => "GET", "rack.input" => StringIO.new("".b),
                  **RequestKey.server(@env) }
          names = (@settings.keyed - NEVER) | ["host"]
          names.each do |name|
            value = @fields[name]
            own[Fields.variable(name)] = Fields.bytes(value) if value
          end
          { **known, **own }
        end
      end
      private_constant :Origin
    end
  end
end
