# frozen_string_literal: true

module Polycache
  module Memory
    # The keys that left last, by their hashes, oldest first. Two keys with one hash are confused:
    # that only makes a wrong guess of popularity.
    class Ghosts
      def initialize
        @buried = 0
        # hash => [number, born]
        @graves = {}
      end

      # Remembers a key that came in at +born+; +most+ is how many are remembered.
      def bury(hash, born, most)
        @graves.delete(hash)
        @graves[hash] = [@buried, born]
        @buried += 1
        @graves.shift while @graves.size > most
      end

      # When the key came in, if it is among the last +most+ that left; else nil. It is forgotten.
      def recall(hash, most)
        return if @graves.empty?

        number, born = @graves.delete(hash)
        born if number && @buried - number <= most
      end

      def size = @graves.size
    end
  end
end
