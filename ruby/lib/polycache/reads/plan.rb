# frozen_string_literal: true

require "json"

require_relative "../errors"
require_relative "../redis_namespace"

module Polycache
  module Reads
    # What is to be known of a command before its reply is kept: its keys, and whether it may show
    # fields of a hash, which may expire by themselves. Its reply may be the text of a document.
    class Plan
      # A copy of spec/reads.json (tools/commands.py).
      SAID = JSON.parse(File.read(File.join(__dir__, "reads.json"))).freeze
      READS = SAID.fetch("reads").to_h { |name| [name, true] }.freeze
      HASHES = SAID.fetch("hashes").to_h { |name| [name, true] }.freeze
      DOCUMENTS = SAID.fetch("documents").freeze
      REFUSED = SAID.fetch("refused").freeze
      TABLE = RedisNamespace::CommandTable.new(commands: SAID.fetch("modules"))
      # Keys that one read may name: see crates/remote/src/reads/kept.rs.
      MOST_KEYS = 1024
      private_constant :SAID, :READS, :HASHES, :DOCUMENTS, :REFUSED, :TABLE

      # @param name [String] in upper case
      # @return [Boolean] whether commands of that name may be cached
      def self.read?(name) = READS.key?(name)

      # @param following [Object, nil] the word behind the name: XINFO STREAM is one command
      # @return [UncacheableRead] why commands of that name cannot be cached
      def self.refusal(name, following = nil)
        why = REFUSED[name]
        why ||= REFUSED["#{name}|#{following.to_s.upcase}"] unless following.nil?
        why ||= "it is not known to be a read whose reply its keys alone decide"
        UncacheableRead.new("#{name} cannot be cached: #{why}")
      end

      # @return [Array<String>]
      attr_reader :keys

      # @param words [Array<String>]
      # @raise [UncacheableRead]
      def initialize(words)
        name = words[0].upcase
        raise Plan.refusal(name, words[1]) unless Plan.read?(name)

        refuse("XREAD with BLOCK waits for what comes: leave BLOCK out") if
          name == "XREAD" && words.any? { |word| word.casecmp?("BLOCK") }
        found = KeysFound.new
        TABLE.find(words).rewrite(words.dup, found)
        @keys = found.keys
        @shows_fields = HASHES.key?(name)
        @document = DOCUMENTS.include?(name)
        check(name, found)
      end

      def shows_fields? = @shows_fields

      # @return [Boolean] whether its reply is the text of a JSON document
      def document? = @document

      private

      def check(name, found)
        refuse("#{name} with BY or GET reads keys that it does not name") if found.elsewhere?
        refuse("this #{name} names no key") if keys.empty?
      end

      def refuse(why)
        raise UncacheableRead, why
      end

      # Takes the place of a prefix, and notes what it would be put on.
      class KeysFound
        attr_reader :keys

        def initialize
          @keys = []
          @elsewhere = false
        end

        def elsewhere? = @elsewhere

        def key(word)
          @keys << word
          word
        end

        def put_on_keys(words, first, last, step)
          first.step(last, step) { |at| key(words[at]) if words[at] }
        end

        def by(word)
          @elsewhere = true
          word
        end

        def get(word)
          @elsewhere = true unless word == "#"
          word
        end
      end
      private_constant :KeysFound
    end
  end
end
