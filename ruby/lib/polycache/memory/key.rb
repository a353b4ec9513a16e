# frozen_string_literal: true

module Polycache
  module Memory
    # Keys as the memory tier has them: a String in UTF-8 where the bytes are text, else in
    # BINARY, so that text, its bytes and a Symbol of it are one key (spec/keys.md).
    module Key
      REFUSED = "a key is a String or a Symbol"
      REFUSED_TEXT = "#{REFUSED} whose text has a UTF-8 form " \
                     "(a string of bytes has the encoding BINARY)".freeze
      private_constant :REFUSED, :REFUSED_TEXT

      module_function

      # @param key [String, Symbol]
      # @return [String] frozen
      # @raise [InvalidKey]
      def of(key)
        key = key.name if key.is_a?(Symbol)
        raise InvalidKey, "#{REFUSED}: #{key.inspect}" unless key.is_a?(String)

        case key.encoding
        when Encoding::UTF_8 then text(key)
        when Encoding::BINARY then bytes(key)
        when Encoding::US_ASCII then text(key).dup.force_encoding(Encoding::UTF_8).freeze
        else foreign(key)
        end
      end

      # @return [String] text, for a namespace's part or the like
      # @raise [InvalidArgument]
      def part(name)
        text = of(name)
        return text unless text.encoding == Encoding::BINARY || text.empty?

        raise InvalidArgument, "a namespace's part is text that is not empty: #{name.inspect}"
      rescue InvalidKey
        raise InvalidArgument, "a namespace's part is text, not #{name.inspect}"
      end

      def text(key)
        raise InvalidKey, "#{REFUSED_TEXT}: #{key.inspect}" unless key.valid_encoding?

        key.frozen? && key.instance_of?(String) ? key : String.new(key).freeze
      end

      def bytes(key)
        as_text = String.new(key).force_encoding(Encoding::UTF_8)
        as_text.force_encoding(Encoding::BINARY) unless as_text.valid_encoding?
        as_text.freeze
      end

      def foreign(key)
        raise InvalidKey, "#{REFUSED_TEXT}: #{key.inspect}" unless key.valid_encoding?

        key.encode(Encoding::UTF_8).freeze
      rescue EncodingError
        raise InvalidKey, "#{REFUSED_TEXT}: #{key.inspect}"
      end

      private_class_method :text, :bytes, :foreign
    end
  end
end
