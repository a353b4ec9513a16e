# frozen_string_literal: true

require "json"

require_relative "../errors"
require_relative "rules"
require_relative "replies"
require_relative "scope"

module Polycache
  module RedisNamespace
    # The table of commands: commands.json, a copy of spec/commands.json, and a user's additions.
    class CommandTable
      # Inside these a command has to be one command on the server too.
      TRANSACTION = %w[MULTI EXEC DISCARD RESET].freeze

      # A command or subcommand. `kind` is :rewrite, :pass, :scope or :server.
      class Command
        # Readers have no question marks: as such Ruby calls them without a method of their own.
        attr_reader :name, :kind

        # @return [Boolean] whether its first word is a key and nothing else is to do, as in most
        #   commands
        attr_reader :first_key

        # @return [Rules::Keys, nil] where all keys are, when nothing else is to do
        attr_reader :keys

        # @return [Boolean] whether it opens or ends a transaction
        attr_reader :transaction

        # @return [Boolean] whether it is made of other commands
        attr_reader :emulated

        # @return [Boolean] whether it gets a pattern where it has none
        attr_reader :narrowed

        # @return [Boolean] whether its words are not sent as they are
        attr_reader :changes

        # @return [Boolean] whether its reply has prefixes
        attr_reader :replies

        # @return [Boolean] whether it may be sent where messages come: about subscriptions, or
        #   without names in its reply
        attr_reader :subscribing

        def initialize(name, kind, rules, reply)
          @name = name
          @kind = kind
          @rules = rules
          @reply = reply&.to_sym
          @replies = !reply.nil?
          @rule = rules[0] if rules.size == 1
          @keys = @rule if kind == :rewrite && !@replies && @rule.is_a?(Rules::Keys)
          @first_key = !@keys.nil? && @keys.first_key?
          @transaction = TRANSACTION.include?(name)
          @emulated = kind == :scope && Scope.emulated?(name)
          @narrowed = Scope.narrowed?(name)
          @changes = !rules.empty?
          @subscribing = @reply == :messages || (kind == :pass && !@replies && !@transaction)
          freeze
        end

        # Rewrites the words in place.
        def rewrite(words, prefix)
          @rule ? @rule.apply(words, prefix) : @rules.each { |rule| rule.apply(words, prefix) }
          words
        end

        # The reply without prefixes.
        def reply(reply, prefix)
          case @reply
          when nil then reply
          when :keys then Replies.keys(reply, prefix)
          else Replies.public_send(@reply, reply, prefix)
          end
        end
      end

      FILE = File.join(__dir__, "commands.json")

      # The table of spec/commands.json alone.
      def self.default = @default ||= new

      # @param allow [Array<String>] commands that pass as they are: ones that touch the whole
      #   server, or that are not in the table and have no keys
      # @param commands [Hash{String => Array}] rules of further commands, as in spec/commands.json
      # @raise [InvalidArgument] one of them is wrong
      def initialize(allow: [], commands: {})
        @commands = {}
        @containers = {}
        JSON.parse(File.read(FILE))["commands"].each do |name, said|
          put(name, said["do"].to_sym, said.fetch("at", []), said["reply"])
        end
        listed(commands, Hash, "commands is a Hash of names and rules").each do |name, rules|
          rules = listed(rules, Array, "the rules of #{name} are a list of lists")
          put(named(name), :rewrite, rules, nil)
        end
        listed(allow, Array, "allow is a list of names").each { |name| pass(named(name)) }
        @by_name = @commands.select { |_, command| told_by_name?(command) }.freeze
      end

      # @param name [String, Symbol]
      # @return [Boolean] whether it is the name of a command, or of what has subcommands
      def known?(name)
        name = name.to_s.upcase
        @commands.key?(name) || @containers.key?(name)
      end

      # The command of that name, if there is only one and it is not refused.
      #
      # @param name [String, Symbol] as a client writes it
      # @return [Command, nil]
      def by_name(name) = @by_name[name]

      # The command that the words are.
      #
      # @raise [UnknownCommand] it is not in the table
      # @raise [CommandNotAllowed] it touches the whole server
      def find(words)
        @by_name[words[0]] || look_up(words)
      end

      private

      def listed(given, kind, expected)
        return given if given.is_a?(kind)

        raise InvalidArgument, "#{expected}, not #{given.inspect}"
      end

      # A name as the table has it.
      def named(name)
        text = name.to_s if name.is_a?(String) || name.is_a?(Symbol)
        return text.upcase.tr(" ", "|") if text && !text.empty? && text.valid_encoding?

        raise InvalidArgument, "a command's name is text, not #{name.inspect}"
      end

      def look_up(words)
        command = @commands[words[0].upcase(:ascii)]
        command = subcommand(words) if command.nil? || contains?(command, words)
        return command unless command.kind == :server

        raise CommandNotAllowed,
              "#{command.name.tr("|", " ")} touches the whole server, other namespaces included. " \
              "If that is meant, say allow: [#{command.name.tr("|", " ").inspect}]"
      end

      def told_by_name?(command)
        command.first_key || (command.kind != :server && !@containers.key?(command.name))
      end

      def put(name, kind, rules, reply)
        command = Command.new(name, kind, rules.map { |rule| Rules.build(rule) }, reply)
        container, sub = name.split("|", 2)
        return (@containers[container] ||= {})[sub] = command if sub

        # Clients write a command in one of these ways.
        @commands[name] = @commands[name.downcase] = @commands[name.downcase.to_sym] = command
      end

      # COMMAND is a command of its own, and a container.
      def contains?(command, words) = words.size > 1 && @containers.key?(command.name)

      # A container stands for all of its subcommands that would be refused.
      def pass(name)
        refused = @containers.fetch(name, {}).select { |_, command| command.kind == :server }
        return put(name, :pass, [], nil) if refused.empty?

        refused.each_key { |sub| put("#{name}|#{sub}", :pass, [], nil) }
      end

      def subcommand(words)
        container = words[0].upcase(:ascii)
        subs = @containers[container]
        found = subs && words[1] && subs[words[1].upcase(:ascii)]
        found ||= @commands[container] if subs && @commands[container]&.kind == :pass
        found || raise(UnknownCommand, unknown(container, subs && words[1]))
      end

      def unknown(container, sub)
        name = [container, sub].compact.join(" ")
        "#{name} is not known, so it cannot be said which of its words are keys. If it has none, " \
          "say allow: [#{name.inspect}]; else say where they stand, for a first key " \
          "commands: { #{[container, sub].compact.join("|").inspect} => [[\"key\", 1, 1, 1]] }"
      end
    end
  end
end
