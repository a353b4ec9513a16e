# frozen_string_literal: true

module Polycache
  # <tt>cache[key]</tt> and <tt>cache[key] = value</tt> in classes that extend a cache: by +get+ and
  # +set+, which they may have overridden. The caches themselves have aliases, because the second
  # call of a method would make a hit about 8 % slower.
  # @api private
  module Brackets
    # The singleton methods of a cache's class.
    module Inherited
      def inherited(subclass)
        super
        # What extends the subclass has it from there, or what that has in its place.
        subclass.include(Brackets) if superclass.equal?(Object)
      end
    end

    def [](...) = get(...)

    def []=(key, value)
      set(key, value)
    end
  end

  private_constant :Brackets
end
