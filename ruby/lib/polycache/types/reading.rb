# frozen_string_literal: true

require "set"
require_relative "../named"
require_relative "../value_path"

module Polycache
  class Types
    # Makes what a reader gets of a value that holds types as Named: from the inside out, what
    # +decode+ returns for those that are registered.
    class Reading
      # What a +decode+ raised; it gathers the path on its way out to the value.
      class Failed < StandardError
        attr_reader :name, :steps

        def initialize(name)
          super()
          @name = name
          @steps = []
        end
      end
      private_constant :Failed

      # How a kept value is copied out (Memory::HandOut).
      class Plan
        def initialize(types, frozen, graph)
          @types = types
          @frozen = frozen
          @graph = graph
          freeze
        end

        # What one reader is given. Runs functions of users.
        # @raise [WrongType]
        def copy(value)
          Reading.new(@types, copy: !@frozen, freeze: @frozen, graph: @graph).of(value)
        end
      end

      # @param copy [Boolean] whether the value is kept, so that its reader is given copies
      # @param freeze [Boolean] whether it is kept frozen, and what is made of it is frozen too;
      #   parts in which nothing is made are shared
      # @param graph [Boolean] whether something in it may be reached twice, and is to be one object
      #   again
      def initialize(types, copy: false, freeze: false, graph: false)
        @types = types
        @copy = copy
        @freeze = freeze
        @seen = {}.compare_by_identity if graph
        @anew = copy || graph
      end

      # @return [Object]
      # @raise [WrongType]
      def of(value)
        part(value)
      rescue Failed => e
        path = ValuePath.of(e.steps.reverse)
        message = "the value at #{path} is not of the type #{e.name.inspect}: its decode raised " \
                  "#{e.cause.class}"
        raise Types.error("wrong_type", path, message, e.cause)
      end

      private

      def part(value)
        case value
        when Named then once(value) { named(value) }
        when Array then inside(value, Array) { |made| list(value, made) }
        when Hash then inside(value, Hash) { |made| map(value, made) }
        when Set then inside(value, Set) { |made| list(value, made) }
        when String, Time then @copy && !value.frozen? ? once(value) { value.dup } : value
        else value
        end
      end

      def once(value)
        return yield unless @seen
        return @seen[value] if @seen.key?(value)

        @seen[value] = yield
      end

      # A container is known before its parts are looked at: they may refer to it. The block fills
      # the copy, and says whether nothing in it has changed.
      def inside(value, type)
        # Frozen to its depth when it was stored, and without a Named in it.
        return value if (@copy && value.frozen?) || !value.instance_of?(type)
        return @seen[value] if @seen&.key?(value)

        made = type.new
        @seen[value] = made if @seen
        same = yield made
        made = value if same && !@anew
        @freeze ? made.freeze : made
      end

      def list(value, made)
        same = true
        value.each do |part|
          found = part(part)
          same &&= part.equal?(found)
          made << found
        rescue Failed => e
          e.steps << made.size
          raise
        end
        same
      end

      def map(value, made)
        made.compare_by_identity if value.compare_by_identity?
        same = true
        value.each do |key, part|
          found = part(part)
          same &&= part.equal?(found)
          name = @copy && !key.frozen? ? part(key) : key
          made[name] = found
        rescue Failed => e
          e.steps << key
          raise
        end
        same
      end

      def named(named)
        value = part(named.value)
        type = @types.type(named.name)
        return decode(type, named.name, value) if type

        named.value.equal?(value) ? named : Named.new(named.name, value)
      end

      # What ends a thread or program goes through as it is.
      def decode(type, name, value)
        object = type.decode(value)
        # A BasicObject has no freeze.
        @freeze && ::Object === object ? object.freeze : object # rubocop:disable Style/CaseEquality
      rescue StandardError, ScriptError
        raise Failed, name
      end
    end
  end
end
