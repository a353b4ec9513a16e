# frozen_string_literal: true

require_relative "../errors"

module Polycache
  module RedisNamespace
    # Where keys, patterns and channels are among a command's words (spec/commands.md). Each rule
    # rewrites an array of words in place.
    module Rules
      # The method of Prefix for each kind of word.
      KINDS = %w[key prefix pattern channel publish channel-pattern by get]
              .to_h { |kind| [kind, kind.tr("-", "_").to_sym] }.freeze

      # @param rule [Array] one of spec/commands.json
      # @raise [InvalidArgument] it is not a rule
      def self.build(rule)
        kind, *rest = rule
        case kind
        when "numkeys" then Numkeys.new(*rest)
        when "options" then Options.new(*rest, nil)
        when "options-or-key" then Options.new(rest[0], rest[1], position(rest[2], 1))
        when "key" then Keys.new(*rest)
        else Range.new(kind, *rest)
        end
      rescue ArgumentError, TypeError, NoMethodError, KeyError
        raise InvalidArgument, "#{rule.inspect} says not where keys stand; for a first key it is " \
                               "[\"key\", 1, 1, 1] (spec/commands.md)"
      end

      # The method of Prefix for a kind of word.
      def self.method_for(kind) = KINDS.fetch(kind)

      # A position among words: below 0 it counts from the end, where that may be.
      def self.position(value, from = 0)
        return value if value.is_a?(Integer) && value >= from

        raise TypeError, "no position: #{value.inspect}"
      end

      # Keys from `first` to `last`, every `step`-th. `last` below 0 counts from the end.
      class Keys
        def initialize(first, last, step)
          @first = Rules.position(first, 1)
          @last = Rules.position(last, -Float::INFINITY)
          @step = Rules.position(step, 1)
        end

        def apply(words, prefix)
          last = @last.negative? ? words.size + @last : [@last, words.size - 1].min
          prefix.put_on_keys(words, @first, last, @step)
        end

        # @return [Boolean] whether it is the key in the first place and no other
        def first_key? = @first == 1 && @last == 1

        # For a command of redis-rb, a name and arguments of any kind. An argument that is a list or
        # a Hash has more words, so the places of the following ones are unknown.
        #
        # @param command [Array] stays as it is
        # @return [Array, nil] with prefixes, or nil where it has to be made words of first
        def apply_to_flat(command, prefix)
          return unless @first == 1 && @step == 1 && @last >= -1

          last = @last == -1 ? command.size - 1 : [@last, command.size - 1].min
          prefix.put_on_flat_keys([*command], last)
        end
      end

      # The same for patterns and channels.
      class Range
        def initialize(kind, first, last, step)
          @rewrite = Rules.method_for(kind)
          @first = Rules.position(first, 1)
          @last = Rules.position(last, -Float::INFINITY)
          @step = Rules.position(step, 1)
        end

        def apply(words, prefix)
          index = @first
          last = @last.negative? ? words.size + @last : [@last, words.size - 1].min
          while index <= last
            words[index] = rewritten(words[index], prefix)
            index += @step
          end
        end

        def first_key? = false

        private

        # The usual case needs no look-up.
        def rewritten(word, prefix)
          @rewrite == :pattern ? prefix.pattern(word) : prefix.public_send(@rewrite, word)
        end
      end

      # As many words from `first` as the number at `at` says.
      class Numkeys
        def initialize(at, first)
          @at = Rules.position(at, 1)
          @first = Rules.position(first, 1)
        end

        def apply(words, prefix)
          return unless (number = words[@at])

          last = [@first + count(number), words.size].min - 1
          prefix.put_on_keys(words, @first, last, 1)
        end

        def first_key? = false

        private

        def count(number)
          count = Integer(number, 10, exception: false)
          return count if count && !count.negative?

          raise InvalidArgument, "the number of keys is not a number from 0 on: #{number.inspect}"
        end
      end

      # Options in any order, walked one by one; and a key at `otherwise` where none of them was
      # followed by keys.
      class Options
        def initialize(first, words, otherwise)
          @first = Rules.position(first, 1)
          @otherwise = otherwise
          @arguments = words.to_h { |word, kinds| [word.upcase, arguments(kinds)] }
          @longest = words.keys.map(&:bytesize).max || 0
        end

        def apply(words, prefix)
          walked = walk(words, prefix)
          return if walked == :keys || !@otherwise || !words[@otherwise]

          words[@otherwise] = prefix.key(words[@otherwise])
        end

        def first_key? = false

        private

        def arguments(kinds)
          return kinds.map { |kind| kind == 0 ? nil : Rules.method_for(kind) } unless
            kinds.is_a?(String)
          raise TypeError, kinds unless %w[keys streams].include?(kinds)

          kinds
        end

        def walk(words, prefix)
          index = @first
          while index < words.size
            arguments = arguments_of(words[index])
            index += 1
            return rest(arguments, words, index, prefix) if arguments.is_a?(String)

            arguments&.each do |rewrite|
              words[index] = prefix.public_send(rewrite, words[index]) if rewrite && words[index]
              index += 1
            end
          end
        end

        def arguments_of(word)
          @arguments[word.upcase(:ascii)] if word.bytesize <= @longest
        end

        # `keys`: all that follow. `streams`: the first half of them, the others are ids.
        def rest(which, words, index, prefix)
          count = words.size - index
          count /= 2 if which == "streams"
          prefix.put_on_keys(words, index, index + count - 1, 1)
          :keys
        end
      end
    end
  end
end
