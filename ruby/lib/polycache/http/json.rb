# frozen_string_literal: true

require "json"
require "set"

require_relative "../errors"

module Polycache
  module HTTP
    # Values as JSON, the same bytes that JavaScript's JSON.stringify makes of them. So all
    # languages that serve one value have one entity tag. Integers of 64 bits have all their
    # digits, larger ones are texts.
    # @api private
    module Json
      # Members that JavaScript's objects have in front, in the order of their numbers.
      INDEX = /\A(?:0|[1-9][0-9]{0,9})\z/n
      LAST_INDEX = (2**32) - 2
      # Numbers from here on have an exponent.
      LARGE = 21
      # And numbers with more zeros behind the point.
      SMALL = -6
      # Bytes that an index begins with.
      DIGIT = (48..57)
      private_constant :INDEX, :LAST_INDEX, :LARGE, :SMALL, :DIGIT

      module_function

      # @param value [Object] nil, true, false, a number, text, a Time, or an Array, Set or Hash of
      #   these; bytes are text, and those that are no UTF-8 become U+FFFD
      # @return [String] bytes
      # @raise [InvalidArgument] for anything else
      def of(value)
        return JSON.generate(value).b.freeze if value.is_a?(Hash) && ordinary?(value)

        out = +""
        write(out, value)
        out.b.freeze
      end

      # True for an object that the library writes as JavaScript does: what is asked for most
      # often, some fields around a value, takes an eighth of the time so.
      def ordinary?(pairs)
        pairs.all? do |name, one|
          name.is_a?(Symbol) && !DIGIT.cover?(name.name.getbyte(0)) && scalar?(one)
        end
      end

      def scalar?(value)
        case value
        when String then value.encoding == Encoding::UTF_8 && value.valid_encoding?
        when Integer then value.bit_length < 64
        else value.nil? || value == true || value == false
        end
      end

      def write(out, value)
        case value
        when String then text(out, value)
        when Array, Set then list(out, value)
        when Hash then object(out, value)
        when Integer then out << (value.bit_length < 64 ? value.to_s : "\"#{value}\"")
        when true, false then out << value.to_s
        when nil then out << "null"
        when Float then out << number(value)
        when Symbol then text(out, value.name)
        when Time then text(out, value.getutc.strftime("%Y-%m-%dT%H:%M:%S.%LZ"))
        else raise InvalidArgument, "#{value.class} has no JSON"
        end
      end

      def text(out, string)
        unless string.encoding == Encoding::UTF_8 && string.valid_encoding?
          string = string.dup.force_encoding(Encoding::UTF_8).scrub("\uFFFD")
        end
        out << JSON.generate(string)
      end

      def list(out, values)
        out << "["
        first = true
        values.each do |one|
          out << "," unless first
          first = false
          write(out, one)
        end
        out << "]"
      end

      def object(out, pairs)
        out << "{"
        first = true
        ordered(pairs).each do |name, one|
          out << "," unless first
          first = false
          text(out, name)
          out << ":"
          write(out, one)
        end
        out << "}"
      end

      def ordered(pairs)
        # Each name once, with its last value.
        named = pairs.transform_keys { |name| name.is_a?(String) ? name : name.to_s }
        return named if named.none? { |name, _| index?(name) }

        indices, others = named.partition { |name, _| index?(name) }
        indices.sort_by { |name, _| name.to_i } + others
      end

      def index?(name) = INDEX.match?(name.b) && name.to_i <= LAST_INDEX

      # The shortest digits that are this number, as ECMA-262's Number::toString writes them.
      def number(float)
        return "null" unless float.finite?
        return "0" if float.zero?

        digits, point = digits_of(float.abs)
        "#{"-" if float.negative?}#{written(digits, point)}"
      end

      # @return [(String, Integer)] without zeros at the ends, and how many stand before the point
      def digits_of(float)
        mantissa, exponent = float.to_s.split("e")
        whole, fraction = mantissa.split(".")
        digits = "#{whole}#{fraction}"
        leading = digits[/\A0*/].size
        [digits.gsub(/\A0+|0+\z/, ""), whole.size + exponent.to_i - leading]
      end

      def written(digits, point)
        size = digits.size
        if point > LARGE || point <= SMALL
          rest = ".#{digits[1..]}" if size > 1
          "#{digits[0]}#{rest}e#{"+" if point.positive?}#{point - 1}"
        elsif point <= 0 then "0.#{"0" * -point}#{digits}"
        elsif size <= point then digits.ljust(point, "0")
        else
          "#{digits[0, point]}.#{digits[point..]}"
        end
      end

      private_class_method :ordinary?, :scalar?, :write, :text, :list, :object, :ordered, :index?,
                           :number, :digits_of, :written
    end
  end
end
