# frozen_string_literal: true

require_relative "../named"

module Polycache
  module Memory
    # How many bytes of memory objects take: an estimate from what CRuby allocates on a 64-bit
    # machine, good enough to hold a cache near its bound.
    module Weigh
      # An object's slot in the heap, and a place in an Array.
      OBJECT = 40
      PLACE = 8
      # Texts and Arrays up to these sizes stand in their slots.
      SHORT_TEXT = 23
      SHORT_ARRAY = 3
      # A pair of a Hash (or an element of a Set): key, value, hash, and the slack of the table.
      PAIR = 48
      # An entry without key and value: its object with its fields, and its pair in the index.
      ENTRY = 250
      # What is not known in detail.
      OTHER = 80
      # Most containers that are walked: a value may reach the whole program.
      MOST_CONTAINERS = 100_000
      private_constant :MOST_CONTAINERS

      module_function

      def key(key) = ENTRY + text(key)
      def text(text) = text.bytesize > SHORT_TEXT ? OBJECT + text.bytesize : OBJECT
      def array(size) = size > SHORT_ARRAY ? OBJECT + (PLACE * size) : OBJECT
      def hash(size) = OBJECT + (PAIR * size)
      def set(size) = (2 * OBJECT) + (PAIR * size)

      # Bytes of an object that holds no others.
      def scalar(value)
        case value
        when nil, true, false, Symbol, Float, Module then 0
        when Integer then value.bit_length < 63 ? 0 : OBJECT + (value.bit_length / 8)
        when String then text(value)
        else OTHER
        end
      end

      # Bytes of any value as it is. What is reached twice counts once; an object that is not a
      # container counts without what it refers to.
      def any(value)
        return scalar(value) unless container?(value)

        bytes = 0
        seen = {}.compare_by_identity
        open = [value]
        while (container = open.pop) && seen.size < MOST_CONTAINERS
          next if seen[container]

          seen[container] = true
          # Not `bytes += shell(...)`, which would read it before the block adds to it.
          own = shell(container) do |part|
            container?(part) ? open << part : bytes += scalar(part)
          end
          bytes += own
        end
        bytes
      end

      # Whether a container holds types as Named.
      def named?(value)
        seen = {}.compare_by_identity
        open = [value]
        while (container = open.pop)
          next if seen[container]
          return true if Named === container # rubocop:disable Style/CaseEquality

          seen[container] = true
          shell(container) { |part| open << part if container?(part) }
        end
        false
      end

      def container?(value)
        case value
        when Array, Hash, Set, Named then true
        else false
        end
      end

      # Bytes of a container alone; its parts are yielded.
      def shell(container, &part)
        case container
        when Array
          container.each(&part)
          array(container.size)
        when Hash
          container.each { |pair| pair.each(&part) }
          hash(container.size)
        when Named
          yield container.value
          OTHER
        else
          container.each(&part)
          set(container.size)
        end
      end

      private_class_method :shell
    end
  end
end
