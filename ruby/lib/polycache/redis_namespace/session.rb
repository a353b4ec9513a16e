# frozen_string_literal: true

require_relative "../errors"
require_relative "namespaces"
require_relative "command_table"
require_relative "scope"

module Polycache
  module RedisNamespace
    # Rewrites what one connection sends and what it gets back. It remembers what a transaction has
    # queued, because the replies come with EXEC.
    class Session
      # @param options [Hash] namespace, and optionally allow and commands (see RedisNamespace)
      # @yield [words] sends a command as it is, for those that stay inside the namespace by others
      def initialize(options, &send)
        options = options.transform_keys(&:to_sym)
        @namespaces = Namespaces.new(options[:namespace])
        @table = Session.table(options)
        @send = send
        @queued = nil
      end

      def self.table(options)
        added = options.slice(:allow, :commands)
        added.empty? ? CommandTable.default : CommandTable.new(**added)
      end

      # @return [Prefix] of this moment
      def prefix = @namespaces.prefix

      # Rewrites the words in place while the block sends them, so that a retry finds them as they
      # were; and gives back the reply without prefixes.
      def call(words, &block)
        prefix = self.prefix
        command = @table.find(words)
        if command.first_key? && words.size > 1 && !@queued
          key = words[1]
          begin
            words[1] = prefix.key(key)
            return yield
          ensure
            words[1] = key
          end
        end
        return scope(command, prefix) if command.emulated?

        after(command, prefix, rewritten(command, words, prefix, &block))
      end

      # What redis-rb hands over, a name and arguments of any kind, when nothing is to do but to put
      # the prefix on the first of them; else nil.
      #
      # @param command [Array] stays as it is
      # @return [Array, nil]
      def first_key(command)
        return unless !@queued && @table.first_key?(command[0])

        key = command[1]
        case key
        when String then nil
        when Symbol, Integer, Float then key = key.to_s
        else return
        end
        words = command.dup
        words[1] = prefix.key(key)
        words
      end

      # The same of many commands at once; the block gives a list of replies.
      def call_pipelined(list, &block)
        prefix = self.prefix
        commands = list.map { |words| @table.find(words) }
        refuse_emulated(commands)
        replies = all_rewritten(commands, list, prefix, &block)
        return replies if !replies.is_a?(Array) || untouched?(commands)

        commands.zip(replies).map { |command, reply| after(command, prefix, reply) }
      end

      # Puts prefixes on the words, in place.
      #
      # @return [Proc] that takes them off the reply
      def rewrite(words)
        prefix = self.prefix
        command = @table.find(words)
        refuse_emulated([command])
        put_on(command, words, prefix)
        ->(reply) { command.reply(reply, prefix) }
      end

      # A message without prefixes; nil when it tells of another namespace's key.
      def message(event) = Replies.message(event, prefix)

      # A new connection is in no transaction.
      def reset
        @queued = nil
      end

      private

      def rewritten(command, words, prefix)
        return yield unless command.changes?

        original = words.dup
        begin
          put_on(command, words, prefix)
          yield
        ensure
          words.replace(original)
        end
      end

      def all_rewritten(commands, list, prefix)
        originals = Array.new(list.size)
        commands.each_with_index do |command, at|
          words = list[at]
          if command.first_key? && words.size > 1
            originals[at] = words[1]
            words[1] = prefix.key(words[1])
          elsif command.changes? # The words of others may be frozen.
            originals[at] = words.dup
            put_on(command, words, prefix)
          end
        end
        yield
      ensure
        originals.each_with_index { |original, at| restore(list[at], original) if original }
      end

      # @param original [String, Array] the first key, or all words
      def restore(words, original)
        original.is_a?(Array) ? words.replace(original) : words[1] = original
      end

      # Whether the replies stay as they are: as usual, one whole transaction or none.
      def untouched?(commands)
        return false if @queued || commands.any?(&:replies?)

        case commands.count(&:transaction?)
        when 0 then true
        when 2 then commands.first.name == "MULTI" && commands.last.name == "EXEC"
        end
      end

      def put_on(command, words, prefix)
        command.rewrite(words, prefix)
        Scope.narrow(command, words, prefix) if command.narrowed?
        words
      end

      def after(command, prefix, reply)
        return transaction(command, prefix, reply) if @queued || command.transaction?

        command.replies? ? command.reply(reply, prefix) : reply
      end

      def transaction(command, prefix, reply)
        case command.name
        when "MULTI" then @queued = []
        when "EXEC" then return executed(reply)
        when "DISCARD", "RESET" then @queued = nil
        else
          @queued&.push([command, prefix]) if reply == "QUEUED"
        end
        reply
      end

      def executed(reply)
        queued = @queued || []
        @queued = nil
        return reply unless reply.is_a?(Array) && reply.size == queued.size

        queued.zip(reply).map { |(command, prefix), one| command.reply(one, prefix) }
      end

      def refuse_emulated(commands)
        command = commands.find(&:emulated?)
        return unless command

        raise CommandNotAllowed,
              "#{command.name} inside a namespace is several commands, so it cannot be part of a " \
              "pipeline, a transaction or a command builder; call it by itself"
      end

      def scope(command, prefix)
        refuse_emulated([command]) if @queued
        Scope.public_send(command.name.downcase, prefix, @send)
      end
    end
  end
end
