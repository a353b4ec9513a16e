# frozen_string_literal: true

require_relative "copier"
require_relative "type_map"
require_relative "../types"
require_relative "../extension"

module Polycache
  module Memory
    # Copies and weighs values, in plain Ruby. Polycache::Native::Copies does the same faster where
    # the extension is there, and leaves rare cases to this.
    module PlainCopies
      module_function

      # What is stored of a value: its copy, the plan by which it is copied out (nil: it is handed
      # out itself), and its bytes.
      #
      # If it holds types as Named, the plan is theirs, and a fourth says that a reader gets
      # something other than the value.
      #
      # @param freeze [Boolean] whether the copy is frozen to its depth
      # @param types [Types]
      # @return [Array(Object, Symbol, Integer)]
      # @raise [UnsupportedValue]
      def keep(value, freeze, types) = kept(Copier.new(freeze: freeze, types: types), value)

      def kept(copier, value)
        freeze = copier.freezes?
        copy = copier.copy(value)
        return [copy, copier.plan, copier.bytes, true] if copier.named?

        unless freeze || copy.frozen? || Module === copy # rubocop:disable Style/CaseEquality
          plan = copier.shared? ? :graph : :tree
        end
        [copy, plan, copier.bytes]
      end

      # As +keep+, for what a reader over a directory would get, by the type map. The fourth is
      # whether that is something other than the value.
      #
      # @return [Array(Object, Symbol, Integer, Boolean)]
      # @raise [UnsupportedValue] as over a directory, with the same path
      def keep_mapped(value, freeze, types)
        map = TypeMap.new(types)
        mapped = map.of(value)
        copy, plan, bytes = kept(Copier.new(freeze: freeze, types: types, mapped: true), mapped)
        [copy, plan, bytes, map.changed?]
      end

      # A copy of a stored value in which nothing is reached twice: no class needs to be looked up,
      # nothing is refused. What is frozen is frozen to its depth.
      def tree(value)
        return value if value.frozen?

        case value
        when Hash then value.transform_values { |part| part.frozen? ? part : tree(part) }
        when Array then value.map { |part| part.frozen? ? part : tree(part) }
        when Set then Set.new(value.map { |part| tree(part) })
        when String, Time then value.dup
        else value # A class: not frozen, and kept as it is.
        end
      end

      # A copy of a stored value with the same references among its parts.
      def graph(value) = Copier.new(freeze: false).copy(value)

      # Bytes of any value as it is.
      def weigh(value) = Weigh.any(value)

      private_class_method :kept
    end

    # What is handed out of what was kept.
    module HandOut
      # What a reader is given of a value that was kept.
      def out(value, plan)
        case plan
        when nil then value
        when :packed then value.unpack
        when :tree then Copies.tree(value)
        when :graph then Copies.graph(value)
        else plan.copy(value) # Types have a plan of their own.
        end
      end
    end

    # The copies that caches use.
    Copies = defined?(Native::Copies) ? Native::Copies : PlainCopies
  end
end
