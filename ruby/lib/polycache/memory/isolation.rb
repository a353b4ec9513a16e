# frozen_string_literal: true

require_relative "copies"

module Polycache
  module Memory
    # Which callers see a change of a stored or returned object (spec/memory.md, "Isolation").
    # Each kind keeps a value: it gives what is stored, the plan by which it is copied out (nil:
    # it is handed out itself), and its bytes.
    module Isolation
      # Frozen classes that hold nothing else: their parts need no look.
      SIMPLE = [NilClass, TrueClass, FalseClass, Integer, Float, Symbol, String]
               .to_h { |type| [type, true] }.compare_by_identity.freeze
      private_constant :SIMPLE

      # None: what is stored is a copy, and what is handed out another.
      module Clone
        def self.keep(value, types)
          return [value, nil, Weigh.scalar(value)] if SIMPLE[value.class] && value.frozen?

          Copies.keep(value, false, types)
        end
      end

      # As Clone, by the type map: what a directory would give.
      module MappedClone
        NOTHING_ELSE = [NilClass, TrueClass, FalseClass, Float]
                       .to_h { |type| [type, true] }.compare_by_identity.freeze
        private_constant :NOTHING_ELSE

        def self.keep(value, types)
          return [value, nil, 0] if Kernel === value && NOTHING_ELSE[value.class] # rubocop:disable Style/CaseEquality

          Copies.keep_mapped(value, false, types)
        end
      end

      # As Freeze, by the type map.
      module MappedFreeze
        def self.keep(value, types) = Copies.keep_mapped(value, true, types)
      end

      # None, because none can be made: one copy, frozen to its depth, is handed out to all.
      module Freeze
        def self.keep(value, types) = Copies.keep(value, true, types)
      end

      # All: the object itself is handed out.
      module None
        def self.keep(value, _types) = [value, nil, Copies.weigh(value)]
      end

      # Nothing is weighed.
      module Weightless
        def self.keep(value, _types) = [value, nil, 0]
      end

      # The kinds of a MemoryCache.
      KINDS = { "clone" => Clone, "freeze" => Freeze, "none" => None }.freeze
      # The kinds of a Cache, which takes the same values with and without a directory.
      OF_A_CACHE = { "clone" => MappedClone, "freeze" => MappedFreeze, "none" => None }.freeze
    end
  end
end
