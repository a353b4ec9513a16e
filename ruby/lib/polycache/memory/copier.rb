# frozen_string_literal: true

require "set"
require_relative "weigh"
require_relative "../types"

module Polycache
  module Memory
    # Copies one value into a cache: nil, true, false, numbers, Symbols, Strings, Arrays, Hashes,
    # Sets, Times, and whatever else is frozen to its depth, which is kept as it is.
    #
    # An object that is reached twice is one object in the copy too, and cycles are kept. A Hash's
    # default, singleton methods and instance variables are left out. An instance of a registered
    # type is copied as a Named, in the type map's form. Anything else raises UnsupportedValue, with
    # the path to it. This includes subclasses of these classes, because another class would come
    # back.
    class Copier
      # Nested deeper, a value would overflow the stack.
      DEEPEST = 1000
      # Not their subclasses.
      COPIED = [String, Array, Hash, Set, Time].to_h { |type| [type, true] }
                                               .compare_by_identity.freeze
      CLASS_OF = Kernel.instance_method(:class)
      private_constant :DEEPEST, :COPIED, :CLASS_OF

      # Raised by a refused part; it gathers the path on its way out to the value.
      class Refused < StandardError
        def path = @path ||= []
      end

      # The encoded form of a type cannot be stored.
      class Unmapped < Refused
        # The path within, and the error of a user's function, if any.
        attr_reader :tail, :origin

        def initialize(reason, tail, origin)
          super(reason)
          @tail = tail
          @origin = origin
        end
      end
      private_constant :Refused, :Unmapped

      NAMED_IN_SET = "a set cannot hold a registered type, which not every language can hash"
      NAMED_AS_KEY = "a map's key is not a registered type"
      private_constant :NAMED_IN_SET, :NAMED_AS_KEY

      # Bytes of memory that the copy takes.
      attr_reader :bytes

      # @param freeze [Boolean] whether the copy is frozen to its depth
      # @param types [Types] types that are copied as Named
      # @param mapped [Boolean] whether the value is of the type map, with a Named for each type
      def initialize(freeze:, types: Types::NONE, mapped: false)
        @freeze = freeze
        @types = types
        @mapped = mapped
        @named = false
        @bytes = 0
        @shared = false
        @depth = 0
      end

      # @return [Object] the copy; it is frozen if no part of it can be changed
      # @raise [UnsupportedValue]
      def copy(value)
        part(value)
      rescue Refused => e
        path = "$#{e.path.reverse.join}#{e.tail if e.is_a?(Unmapped)}"
        error = UnsupportedValue.new("#{path}: #{e.message}")
        error.instance_variable_set(:@path, path)
        e.is_a?(Unmapped) ? raise(error, cause: e.origin) : raise(error)
      end

      # Whether a Named is in the copy.
      def named? = @named

      # How a copy with a Named in it is copied out.
      def plan = @types.plan(@freeze, graph: @shared)

      def freezes? = @freeze

      # Whether something is reached twice, so that a copy has to remember where it was.
      def shared? = @shared

      private

      def part(value)
        case value
        when nil, true, false, Symbol, Float then value
        when Integer then kept(value)
        else copied?(value) ? object(value) : other(value)
        end
      end

      # Asked of Kernel: objects may answer anything, or not at all.
      def copied?(value)
        Kernel === value && COPIED[CLASS_OF.bind_call(value)] # rubocop:disable Style/CaseEquality
      end

      def object(value)
        case value
        when String then text(value)
        when Array then inside(value) { array(value) }
        when Hash then inside(value) { hash(value) }
        when Set then inside(value) { set(value) }
        else once(value) { made(value, value.dup, Weigh::OTHER) }
        end
      end

      # A value that cannot be changed.
      def kept(value)
        @bytes += Weigh.scalar(value)
        value
      end

      def text(value)
        return kept(value) if value.frozen? && value.instance_of?(String)

        once(value) { made(value, String.new(value), Weigh.text(value)) }
      end

      def made(value, copy, bytes)
        @bytes += bytes
        @freeze || value.frozen? ? copy.freeze : copy
      end

      def other(value)
        return named(value) if value_is_named?(value)

        if immutable?(value)
          @bytes += Weigh.any(value)
          return value
        end
        return named(value) if @types.registered?(value)

        raise Refused, "an object of #{value.class} can be changed and has no copy here: store a " \
                       "Hash or an Array, freeze it to its depth, or take isolation: \"none\""
      end

      def immutable?(value)
        return Ractor.shareable?(value) if defined?(::Ractor)

        value.frozen? && value.instance_variables.empty? && !value.respond_to?(:each)
      end

      def value_is_named?(value)
        Named === value && CLASS_OF.bind_call(value).equal?(Named) # rubocop:disable Style/CaseEquality
      end

      # A Named, or an object that becomes one.
      def named(value)
        @named = true
        once(value) do
          found = @mapped ? value : of_type_map(value)
          raise Refused, "nested deeper than #{DEEPEST} lists, sets and maps" if @depth == DEEPEST

          @depth += 1
          outer = @mapped
          @mapped = true
          copy = Named.new(found.name, part(found.value))
          @mapped = outer
          @depth -= 1
          @bytes += Weigh::OTHER
          copy
        end
      end

      # Runs functions of users.
      def of_type_map(value)
        map = TypeMap.new(@types)
        map.of(value)
      rescue UnsupportedValue => e
        raise e unless map.reason && e.path

        raise Unmapped.new(map.reason, e.path.delete_prefix("$"), e.cause)
      end

      # The copy of an object, which is made once.
      def once(value)
        seen = @seen ||= {}.compare_by_identity
        if (copy = seen[value])
          @shared = true
          return copy
        end
        seen[value] = yield
      end

      # A container is known before its parts are looked at: they may refer to it.
      def inside(value)
        seen = @seen ||= {}.compare_by_identity
        if (copy = seen[value])
          @shared = true
          return copy
        end
        if value.frozen? && immutable?(value) && !Weigh.named?(value)
          @bytes += Weigh.any(value)
          return seen[value] = value
        end
        raise Refused, "nested deeper than #{DEEPEST} lists, sets and maps" if @depth == DEEPEST

        @depth += 1
        copy = yield
        @depth -= 1
        @freeze ? copy.freeze : copy
      end

      def array(value)
        copy = @seen[value] = []
        value.each do |part|
          copy << part(part)
        rescue Refused => e
          e.path << "[#{copy.size}]"
          raise
        end
        @bytes += Weigh.array(copy.size)
        copy
      end

      def hash(value)
        copy = @seen[value] = {}
        if value.compare_by_identity?
          copy.compare_by_identity
          @shared = true
        end
        value.each do |key, part|
          copy[hash_key(key)] = part(part)
        rescue Refused => e
          e.path << segment(key)
          raise
        end
        @bytes += Weigh.hash(copy.size)
        copy
      end

      # A key that is a container: copies of the Hash are made with what remembers where it was.
      def hash_key(key)
        @shared = true unless key.frozen? && !Weigh.container?(key)
        copy = part(key)
        value_is_named?(copy) ? raise(Refused, NAMED_AS_KEY) : copy
      end

      def set(value)
        copy = @seen[value] = Set.new
        value.each do |part|
          element = part(part)
          raise Refused, NAMED_IN_SET if value_is_named?(element)

          copy << element
        rescue Refused => e
          e.path << "[#{copy.size}]"
          raise
        end
        @bytes += Weigh.set(copy.size)
        copy
      end

      def segment(key)
        # Text in UTF-16, or broken, has no match: that is an error.
        named = (key.is_a?(String) || key.is_a?(Symbol)) && key.to_s.ascii_only?
        named && /\A[A-Za-z_]\w*\z/.match?(key) ? ".#{key}" : "[#{key.inspect}]"
      end
    end
  end
end
