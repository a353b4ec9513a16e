# frozen_string_literal: true

require_relative "../errors"

module Polycache
  module RedisNamespace
    # The prefix of every key of a namespace, and how it is put on and taken off (spec/commands.md,
    # "Where things stand").
    class Prefix
      GLOB = /[*?\[\]\\]/
      KEYSPACE = /\A(__keyspace@[^_]*__:)(.*)\z/mn
      KEYEVENT = "__keyevent@"
      # Where the server tells a connection of keys that changed.
      INVALIDATE = "__redis__:invalidate"

      # The default separator between a namespace and a key.
      SEPARATOR = ":"

      # @param namespace [String] without the separator that follows it
      # @param separator [String]
      def initialize(namespace, separator = SEPARATOR)
        @namespace = namespace
        @text = "#{namespace}#{separator}".freeze
        @pattern = @text.gsub(GLOB) { |char| "\\#{char}" }.freeze
        @size = @text.bytesize
        @ascii = @text.ascii_only?
        freeze
      end

      # @return [String] the namespace with its separator
      attr_reader :text

      # @return [String] the namespace alone
      attr_reader :namespace

      # Bytes and text join as bytes: #join, without a call of its own.
      def key(name)
        @text + name
      rescue Encoding::CompatibilityError
        @text.b + name.b
      end
      alias prefix key

      # The prefix before the words from `first` to `last`, every `step`-th: the usual case of #key,
      # in a loop of its own.
      def put_on_keys(words, first, last, step)
        index = first
        text = @text
        begin
          while index <= last
            words[index] = text + words[index]
            index += step
          end
        rescue Encoding::CompatibilityError
          words[index] = key(words[index])
          put_on_keys(words, index + step, last, step)
        end
      end

      # The prefix before the arguments from the first to `last`, whatever their types; nil when one
      # of them is not a single word.
      def put_on_flat_keys(command, last)
        index = 1
        text = @text
        while index <= last
          word = command[index]
          unless word.is_a?(String)
            return unless word.is_a?(Symbol) || word.is_a?(Integer) || word.is_a?(Float)

            word = word.to_s
          end
          command[index] = text + word
          index += 1
        end
        command
      rescue Encoding::CompatibilityError
        nil
      end

      def pattern(glob)
        @pattern + glob
      rescue Encoding::CompatibilityError
        @pattern.b + glob.b
      end

      def channel(name)
        return name if name == INVALIDATE

        notification(name, @text) || key(name)
      end

      # A channel that is published to. What the server itself tells there reaches every namespace,
      # and so would this.
      def publish(name)
        return channel(name) unless name == INVALIDATE || name.start_with?(KEYEVENT)

        raise InvalidArgument,
              "every namespace hears what is published to #{name.inspect}, where the server " \
              "tells of keys; choose another channel"
      end

      def channel_pattern(glob)
        notification(glob, @pattern) || pattern(glob)
      end

      # A pattern of SORT's BY.
      def by(pattern) = pattern.include?("*") ? sort_pattern(pattern) : pattern

      # A pattern of SORT's GET.
      def get(pattern) = pattern == "#" ? pattern : sort_pattern(pattern)

      # @return [Boolean] whether the name is of this namespace
      def of?(name)
        if @ascii
          name.start_with?(@text)
        else
          name.byteslice(0, @size).b == @text.b
        end
      end

      # The name without the prefix, and one of another namespace as it is.
      def strip(name)
        return name unless name.is_a?(String)
        return name.delete_prefix(@text) if @ascii

        of?(name) ? name.byteslice(@size, name.bytesize) : name
      end

      # The same for a list of names.
      def strip_all(names)
        return names.map { |name| strip(name) } unless @ascii

        text = @text
        stripped = [*names]
        index = 0
        size = names.size
        while index < size # A block for each of them would cost as much again.
          stripped[index] = stripped[index].delete_prefix(text)
          index += 1
        end
        stripped
      end

      # The name of a channel, or of a pattern of channels, as its subscriber gave it.
      def strip_channel(name) = strip_notification(name, @text) || strip(name)

      def strip_channel_pattern(glob)
        strip_notification(glob, @pattern) ||
          (glob.start_with?(@pattern) ? glob.byteslice(@pattern.bytesize, glob.bytesize) : glob)
      end

      private

      # Bytes and text join as bytes.
      def join(prefix, name)
        prefix + name
      rescue Encoding::CompatibilityError
        prefix.b + name.b
      end

      # SORT puts an element where a pattern's first asterisk stands, whatever is before it.
      def sort_pattern(pattern)
        return key(pattern) unless @text.include?("*")

        raise InvalidNamespace,
              "SORT's BY and GET cannot be used in the namespace #{@namespace.inspect}: " \
              "its asterisk would be taken for the element"
      end

      # The channel of keyspace notifications of a key of this namespace.
      def notification(name, prefix)
        return unless name.start_with?("__key")
        return name if name.start_with?(KEYEVENT)

        match = KEYSPACE.match(name.b)
        if match
          return join(match[1].force_encoding(name.encoding),
                      join(prefix, behind(match, name)))
        end

        raise InvalidArgument,
              "a channel of notifications begins with __keyspace@<db>__: or __keyevent@<db>__:, " \
              "and #{name.inspect} may be both"
      end

      def strip_notification(name, prefix)
        return unless name.start_with?("__key")
        return name if name.start_with?(KEYEVENT)

        match = KEYSPACE.match(name.b)
        return unless match && match[2].start_with?(prefix.b)

        key = match[2].byteslice(prefix.bytesize, match[2].bytesize)
        (match[1] + key).force_encoding(name.encoding)
      end

      def behind(match, name) = match[2].force_encoding(name.encoding)
    end
  end
end
