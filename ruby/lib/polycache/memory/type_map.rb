# frozen_string_literal: true

require "set"
require_relative "../types"
require_relative "../value_path"

module Polycache
  module Memory
    # What a reader would get of a value that had been stored in a directory: the type map of
    # spec/entry.md, in plain Ruby. It refuses the same values as the native extension, at the same
    # places. What needs no change stays the same object.
    class TypeMap
      DEEPEST = 128
      MOST_DIGITS = 4300
      # Bytes of an Integer, above which its digits are not counted: that takes quadratic time.
      MOST_BYTES = (14_285 / 8) + 1
      # The years 1 to 9999.
      SECONDS = (-62_135_596_800..253_402_300_799)
      CLASS_OF = ::Kernel.instance_method(:class)
      NO_UTF8 = "the text has no UTF-8 form: give bytes the encoding BINARY (String#b), or text " \
                "its own encoding (force_encoding)"
      IN_SET = "a set cannot hold a list, map, set or registered type, which not every language " \
               "can hash"
      # Bytes of the name of a registered type.
      NAMES = (1..255)
      BY_IDENTITY = "it compares by identity and would come back as one that does not: store a " \
                    "copy that does not"
      private_constant(*constants(false))

      # Why the last value was refused, without the path.
      attr_reader :reason

      # @param types [Types] those that are stored by their names, as Named
      def initialize(types)
        @types = types
        @changed = false
        @path = []
        @around = []
        @late = nil
      end

      # @return [Boolean] whether a reader is given something else than the value
      def changed? = @changed

      # @return [Object] what a reader is given
      # @raise [UnsupportedValue]
      def of(value)
        mapped = part(value)
        raise @late if @late

        mapped
      end

      private

      def part(value)
        case value
        when nil, true, false, ::Float then value
        when ::Integer then integer(value)
        when ::String then very(value, ::String) { text(value) }
        when ::Array then very(value, ::Array) { inside(value) { list(value, value) } }
        when ::Hash then very(value, ::Hash) { inside(plain(value)) { map(value) } }
        when ::Set then very(value, ::Set) { inside(plain(value)) { set(value) } }
        when ::Time then very(value, ::Time) { time(value) }
        else other(value)
        end
      end

      def other(value)
        case value
        when UUID then very(value, UUID) { value }
        when Named then very(value, Named) { named(value) { value } }
        else
          # Programs that have none need not load it.
          return decimal(value) if defined?(::BigDecimal) && ::BigDecimal === value # rubocop:disable Style/CaseEquality

          registered(value) { unmapped(value) }
        end
      end

      # An instance of that class, not of a subclass.
      def very(value, type)
        type_of = class_of(value)
        return yield if type_of.equal?(type)

        registered(value) do
          next unmapped(value) unless type_of <= type

          refuse("the class #{type_of} would come back as #{type}, which it extends: store a " \
                 "#{type} made of it")
        end
      end

      # An instance of a registered type; otherwise the block's result.
      def registered(value)
        return yield unless @types.registered?(value)

        named(value) do
          @types.encode(value)
        rescue ::StandardError, ::ScriptError => e
          error = @types.unsupported(value, ValuePath.of(@path), e)
          @reason = error.message
          raise error
        end
      end

      # What a type is written as. The block gives it; the path goes through it.
      def named(value)
        @changed = true
        inside(value) do
          given = yield
          name = name_of(given)
          inner = part(given.value)
          same = inner.equal?(given.value) && name.equal?(given.name)
          same ? given : Named.new(name, inner)
        end
      end

      def name_of(given)
        name = given.name
        name = text(name) if ::String === name && class_of(name).equal?(::String) # rubocop:disable Style/CaseEquality
        unless ::String === name && name.encoding != ::Encoding::BINARY # rubocop:disable Style/CaseEquality
          refuse("the name of a registered type is text")
        end
        unless NAMES.cover?(name.bytesize)
          refuse_late("the name of a registered type has 1 to 255 bytes")
        end
        name
      end

      def plain(value) = value.compare_by_identity? ? refuse(BY_IDENTITY) : value

      def unmapped(value)
        type = class_of(value)
        if type == ::Symbol
          refuse("a Symbol would come back as a String: store symbol.to_s")
        else
          refuse("the class #{type} is not in the type map: store a Hash, Array, String, number, " \
                 "Time, Set, BigDecimal or Polycache::UUID made of it")
        end
      end

      def class_of(value)
        ::Object === value ? CLASS_OF.bind_call(value) : ::BasicObject # rubocop:disable Style/CaseEquality
      end

      def integer(value)
        return value if value.bit_length < 64

        most = "has at most #{MOST_DIGITS} digits"
        refuse("an integer #{most}") if value.abs.bit_length > 8 * MOST_BYTES
        refuse_late("a big integer #{most}") if value.abs >= 10**MOST_DIGITS
        value
      end

      def text(value)
        case value.encoding
        when ::Encoding::BINARY then value
        when ::Encoding::UTF_8 then value.valid_encoding? ? value : refuse(NO_UTF8)
        else
          @changed = true
          converted(value)
        end
      end

      def converted(value)
        return refuse(NO_UTF8) unless value.valid_encoding?

        value.encode(::Encoding::UTF_8)
      rescue ::EncodingError
        refuse(NO_UTF8)
      end

      def time(value)
        seconds = value.to_i
        refuse("a Time lies in the years 1 to 9999") if seconds.bit_length > 63
        refuse_late("a timestamp lies in the years 1 to 9999") unless SECONDS.cover?(seconds)
        @changed = true
        ::Time.at(seconds, value.nsec, :nsec).utc
      end

      def decimal(value)
        if decimal_size(value) > MOST_DIGITS
          refuse_late("a decimal has at most #{MOST_DIGITS} characters")
        end
        value
      end

      # Bytes of its text as it is stored.
      def decimal_size(value)
        return 0 unless value.finite?

        sign, digits, _, exponent = value.split
        size = digits.size + (sign.negative? ? 1 : 0)
        if !exponent.between?(-6, 21)
          size + (digits.size > 1 ? 1 : 0) + format("E%+d", exponent - 1).size
        elsif exponent <= 0
          size + 2 - exponent
        else
          [size + 1, size - digits.size + exponent].max
        end
      end

      # A list, map or set, which must not hold itself.
      def inside(value)
        refuse("a cycle: it holds itself") if @around.any? { |outer| outer.equal?(value) }
        refuse("nested deeper than #{DEEPEST} lists, sets and maps") if @around.size == DEEPEST
        @around.push(value)
        mapped = yield
        @around.pop
        mapped
      end

      # The parts of a list or set; +whole+ when nothing is changed in them.
      def list(whole, parts)
        same = true
        mapped = []
        parts.each_with_index do |part, index|
          found = at(index) { part(part) }
          same &&= found.equal?(part)
          mapped << found
        end
        same ? whole : mapped
      end

      def set(value)
        elements = value.to_a
        elements.each_with_index do |element, index|
          case element
          when ::Array, ::Hash, ::Set, Named then at(index) { refuse_late(IN_SET) }
          else at(index) { refuse_late(IN_SET) } if @types.registered?(element)
          end
        end
        mapped = list(elements, elements)
        mapped.equal?(elements) ? value : ::Set.new(mapped)
      end

      def map(value)
        same = true
        kinds = {}
        pairs = value.map do |key, part|
          name = key(key, kinds)
          found = at(name) { part(part) }
          same &&= found.equal?(part) && name.equal?(key)
          [name, found]
        end
        refuse_twins(pairs) if kinds.size > 1
        same ? value : pairs.to_h
      end

      def key(key, kinds)
        type = class_of(key)
        unless [::String, ::Symbol].include?(type)
          refuse("a map's key is text, and this one is of class #{type}: store key.to_s")
        end
        kinds[type] = @changed = true if type == ::Symbol
        kinds[type] = true
        text = text(type == ::Symbol ? key.name : key)
        return text.equal?(key) ? key : -text unless text.encoding == ::Encoding::BINARY

        refuse("a map's key is text, and this one is bytes: give it its encoding (force_encoding)")
      end

      # Otherwise one of the two would be lost.
      def refuse_twins(pairs)
        seen = {}
        pairs.each do |key, _|
          next seen[key] = true unless seen[key]

          at(key) { refuse("a symbol and a string become the same key: use one of them") }
        end
      end

      def at(step)
        @path.push(step)
        result = yield
        @path.pop
        result
      end

      def refuse(reason) = raise(refusal(reason))

      # Found as a value is encoded, after all of it was looked at.
      def refuse_late(reason)
        @late ||= refusal(reason)
        nil
      end

      def refusal(reason)
        @reason = reason
        path = ValuePath.of(@path)
        error = UnsupportedValue.new("cannot store the value at #{path}: #{reason}")
        error.instance_variable_set(:@path, path)
        error
      end
    end
  end
end
