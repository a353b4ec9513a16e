# frozen_string_literal: true

module Polycache
  module HTTP
    class ResponseCache
      # Header fields by their names in lower case; lines of one name are one. Values are text in
      # which each byte of the field is a character, as all languages store them.
      # @api private
      module Fields
        # Those that are no HTTP_ variables.
        CONTENT = { "content-type" => "CONTENT_TYPE", "content-length" => "CONTENT_LENGTH" }.freeze

        module_function

        # Those of a request.
        def of_request(env)
          fields = {}
          env.each do |name, value|
            next unless name.start_with?("HTTP_") && value.is_a?(String)

            fields[name.delete_prefix("HTTP_").tr("_", "-").downcase] = text(value)
          end
          CONTENT.each { |name, variable| fields[name] = text(env[variable]) if env[variable] }
          fields
        end

        # Those of an answer: an Array, or lines of one String as before Rack 3, are one list. So
        # are fields whose names differ only in their letters' case, which clients get both of.
        def of_answer(headers)
          fields = {}
          headers.each do |name, value|
            lines = value.is_a?(Array) ? value : value.to_s.split("\n", -1)
            found = text(lines.join(", "))
            fields.merge!(name.to_s.downcase => found) { |_, *both| both.join(", ") }
          end
          fields
        end

        # The variable of a field.
        def variable(name) = CONTENT[name] || "HTTP_#{name.upcase.tr("-", "_")}"

        # @param bytes [String] of a field
        def text(bytes) = bytes.dup.force_encoding(Encoding::ISO_8859_1).encode(Encoding::UTF_8)

        # @raise [EncodingError] for what is no text of bytes
        def bytes(text) = text.encode(Encoding::ISO_8859_1).b
      end
      private_constant :Fields
    end
  end
end
