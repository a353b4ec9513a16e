# frozen_string_literal: true

module Polycache
  module RedisNamespace
    # What a connection has queued since MULTI, because the replies come with EXEC. It follows what
    # the server says rather than what was sent: a transaction that the server has aborted, or has
    # forgotten with a lost connection, leaves nothing behind that later replies could meet.
    class Transaction
      QUEUED = "QUEUED"

      def initialize
        @open = nil
      end

      # Called with every command; it has no question mark, because then Ruby would call a method of
      # its own.
      #
      # @return [Array, nil] what is queued, if the server may be queueing
      attr_reader :open

      def end
        @open = nil
      end

      # The reply of a command, without prefixes.
      #
      # @param reply [Object] an error too, where errors stand among replies
      def received(command, prefix, reply)
        case command.name
        when "MULTI" then @open = [] unless reply.is_a?(Exception)
        when "EXEC" then return executed(reply)
        when "DISCARD", "RESET" then @open = nil
        else return other(command, prefix, reply)
        end
        reply
      end

      # The command raised, so it has no reply. Whatever the server has against EXEC or DISCARD, it
      # will not carry out what was queued.
      def failed(command)
        @open = nil if command.transaction && command.name != "MULTI"
      end

      # Commands that were sent together and whose replies were not seen, because one of them is an
      # error. A command that the server would not queue makes it abort the transaction, so an EXEC
      # that succeeds has all of them.
      #
      # @param commands [Array<(Command, Prefix)>]
      def unseen(commands)
        commands.each do |command, prefix|
          case command.name
          when "MULTI" then @open ||= []
          when "EXEC", "DISCARD", "RESET" then @open = nil
          when "WATCH" then nil # Refused inside a transaction, without aborting it.
          else @open&.push([command, prefix])
          end
        end
      end

      private

      def other(command, prefix, reply)
        return command.reply(reply, prefix) unless @open

        if reply == QUEUED
          @open.push([command, prefix])
        elsif !reply.is_a?(Exception)
          # The server carried it out, so there is no transaction.
          @open = nil
          return command.reply(reply, prefix)
        end
        reply
      end

      def executed(reply)
        queued = @open || []
        @open = nil
        return reply unless reply.is_a?(Array) && reply.size == queued.size

        queued.zip(reply).map { |(command, prefix), one| command.reply(one, prefix) }
      end
    end
  end
end
