# frozen_string_literal: true

require_relative "../errors"
require_relative "namespaces"
require_relative "command_table"
require_relative "scope"
require_relative "transaction"

module Polycache
  module RedisNamespace
    # Rewrites what one connection sends and what it gets back.
    class Session
      # @param options [Hash] namespace, and optionally separator, allow and commands (see
      #   RedisNamespace)
      # @param transaction [Transaction] of the connection, which others may share
      # @yield [words] sends a command unchanged, for those that are made of other commands
      # @raise [InvalidArgument] an option is wrong
      def initialize(options, transaction = Transaction.new, &send)
        options = options.transform_keys(&:to_sym)
        @namespaces = Namespaces.new(options[:namespace], options[:separator] || Prefix::SEPARATOR)
        @fixed = @namespaces.fixed
        @table = Session.table(options)
        @send = send
        @transaction = transaction
      end

      def self.table(options)
        added = options.slice(:allow, :commands).compact
        added.empty? ? CommandTable.default : CommandTable.new(**added)
      end

      # @return [Prefix] for this command
      def prefix = @fixed || @namespaces.prefix

      # @return [Boolean] whether all commands get the same prefix
      def fixed? = !@fixed.nil?

      # Puts prefixes on the words, in place, if nothing else is to do, as for most commands.
      #
      # @return [String, Array, nil] the first key as it was, or all words, to be put back
      #   when they are sent; nil when nothing is done
      def put_on_keys(words)
        command = @table.by_name(words[0])
        return if @transaction.open || !command || !(keys = command.keys)

        prefix = self.prefix
        if command.first_key && (key = words[1])
          words[1] = prefix.key(key)
          return key
        end
        original = [*words]
        keys.apply(words, prefix)
        original
      end

      # Rewrites the words in place while the block sends them, so that a retry finds them
      # unchanged; returns the reply without prefixes.
      def call(words, &block)
        prefix = self.prefix
        command = @table.find(words)
        return scope(command, prefix) if command.emulated
        return transact(command, prefix) { rewritten(command, words, prefix, &block) } if
          @transaction.open || command.transaction

        reply = rewritten(command, words, prefix, &block)
        command.replies ? command.reply(reply, prefix) : reply
      end

      # The same for words that are not sent again, so that they stay rewritten.
      def call_once(words, &block)
        prefix = self.prefix
        command = @table.find(words)
        return scope(command, prefix) if command.emulated

        put_on(command, words, prefix) if command.changes
        return transact(command, prefix, &block) if @transaction.open || command.transaction

        command.replies ? command.reply(yield, prefix) : yield
      end

      # For a command of redis-rb, a name and arguments of any kind: puts prefixes on keys if they
      # can be found without making words of them and nothing else is to do; otherwise nil.
      #
      # @param command [Array] stays as it is
      # @return [Array, nil]
      def flat(command)
        known = @table.by_name(command[0])
        return if @transaction.open || !known
        return known.keys&.apply_to_flat(command, prefix) unless known.first_key

        key = command[1]
        case key
        when String then nil
        when Symbol, Integer, Float then key = key.to_s
        else return
        end
        words = [*command]
        words[1] = prefix.key(key)
        words
      end

      # The same for many commands at once; the block returns a list of replies.
      def call_pipelined(list, &block)
        prefix = self.prefix
        commands = []
        replies = all_rewritten(list, prefix, commands, &block)
        return replies if !replies.is_a?(Array) || untouched?(commands)

        commands.zip(replies).map { |command, reply| received(command, prefix, reply) }
      end

      # The same for words that have their prefixes already.
      def call_prefixed(words, &block)
        command = @table.find(words)
        return transact(command, prefix, &block) if @transaction.open || command.transaction

        command.replies ? command.reply(yield, prefix) : yield
      end

      # The same for many commands at once.
      def call_pipelined_prefixed(list, &block)
        prefix = self.prefix
        commands = list.map { |words| @table.find(words) }
        replies = sent(commands, prefix, &block)
        commands.zip(replies).map { |command, reply| received(command, prefix, reply) }
      end

      # Puts prefixes on the words, in place.
      #
      # @return [Proc] that takes them off the reply
      def rewrite(words)
        command, prefix = batched(words)
        ->(reply) { command.reply(reply, prefix) }
      end

      # Puts prefixes on the words, in place, of a command that is sent with others.
      #
      # @return [(CommandTable::Command, Prefix)] what its reply is to be given to #received with
      def batched(words)
        prefix = self.prefix
        command = @table.find(words)
        refuse_emulated(command)
        [command, put_on(command, words, prefix)]
      end

      # Puts prefixes on the words, in place, of a command that a subscriber sends.
      def subscribing(words)
        command, = batched(words)
        return if command.subscribing

        raise CommandNotAllowed,
              "#{command.name.tr("|", " ")} would be answered among a subscriber's messages; " \
              "call it on the client"
      end

      # @return [Boolean] whether a transaction may be open
      def queueing? = @transaction.open

      # The reply of a command without prefixes, or the error that stands for it.
      def received(command, prefix, reply)
        return command.replies ? command.reply(reply, prefix) : reply unless
          @transaction.open || command.transaction

        @transaction.received(command, prefix, reply)
      end

      # Commands whose replies were not seen, because one of them was raised.
      #
      # @param commands [Array<(CommandTable::Command, Prefix)>]
      def unseen(commands)
        @transaction.unseen(commands)
      end

      # A message without prefixes; nil when it tells of another namespace's key.
      def message(event) = Replies.message(event, prefix)

      # A new connection is in no transaction.
      def reset
        @transaction.end
      end

      private

      def rewritten(command, words, prefix)
        return yield unless command.changes

        original = [*words]
        begin
          put_on(command, words, prefix)
          yield
        ensure
          words.replace(original)
        end
      end

      # Fills `commands` with the commands of the words.
      def all_rewritten(list, prefix, commands, &block)
        originals = []
        put_on_all(list, prefix, commands, originals)
        sent(commands, prefix, &block)
      ensure
        restore_all(list, originals)
      end

      def sent(commands, prefix)
        yield
      rescue StandardError
        unseen(commands.map { |command| [command, prefix] }) if
          @transaction.open || commands.any?(&:transaction)
        raise
      end

      # Keeps in `originals` what #restore_all puts back: the first key, or all words of a command.
      # These loops have no blocks, which would cost several times what they do.
      def put_on_all(list, prefix, commands, originals)
        index = 0
        size = list.size
        while index < size
          words = list[index]
          command = commands[index] = @table.find(words)
          if command.first_key && (key = words[1])
            originals[index] = key
            words[1] = prefix.key(key)
          elsif command.changes # The words of others may be frozen.
            originals[index] = [*words]
            put_on(command, words, prefix)
          elsif command.emulated
            refuse_emulated(command)
          end
          index += 1
        end
      end

      def restore_all(list, originals)
        index = 0
        size = originals.size
        while index < size
          original = originals[index]
          if original.is_a?(Array)
            list[index].replace(original)
          elsif original
            list[index][1] = original
          end
          index += 1
        end
      end

      # Whether the replies stay as they are: as usual, one whole transaction or none.
      def untouched?(commands)
        return false if @transaction.open

        index = 0
        last = commands.size - 1
        transaction = commands[0]&.name == "MULTI" && commands[last].name == "EXEC"
        while index <= last
          command = commands[index]
          return false if command.replies
          return false if command.transaction && !(transaction && (index == 0 || index == last))

          index += 1
        end
        true
      end

      # @return [Prefix]
      def put_on(command, words, prefix)
        command.rewrite(words, prefix)
        Scope.narrow(command, words, prefix) if command.narrowed
        prefix
      end

      # A command that begins or ends a transaction, or is part of one.
      def transact(command, prefix)
        reply = begin
          yield
        rescue StandardError
          @transaction.failed(command)
          raise
        end
        @transaction.received(command, prefix, reply)
      end

      def refuse_emulated(command)
        return unless command.emulated

        raise CommandNotAllowed,
              "#{command.name} inside a namespace is several commands, so it cannot be part of a " \
              "pipeline, a transaction or a command builder; call it by itself"
      end

      def scope(command, prefix)
        refuse_emulated(command) if @transaction.open
        Scope.public_send(command.name.downcase, prefix, @send)
      end
    end
  end
end
