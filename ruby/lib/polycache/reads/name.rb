# frozen_string_literal: true

module Polycache
  module Reads
    # How a read is called.
    module Name
      module_function

      # On this host: its keys, the shape of its reply, all of its words
      # (ext/polycache/src/reads.rs).
      #
      # @return [String]
      def of(keys, shape, words)
        measured = [*keys, shape, *words].map { |word| [word.bytesize].pack("V") << word.b }
        [keys.size].pack("v") << measured.join
      end

      # Kinds of arguments, of which some lead to other replies: mapped_mget(:a) has a Symbol in it.
      #
      # @return [String]
      def kinds(given)
        case given
        when String then "s"
        when Symbol then "y"
        when Array then "a(#{given.map { |one| kinds(one) }.join})"
        when Hash then "h(#{given.map { |pair| kinds(pair) }.join})"
        else "#{given.class.name};"
        end
      end

      # What tells a call from all others in this process, without asking the client for its words.
      def call(scope, method, args, options)
        args = ordered(args) if args.any?(Hash) || args.any?(Array)
        options.empty? ? [scope, method, args] : [scope, method, args, ordered(options)]
      end

      # Hashes as lists of pairs: redis-client sends them in their order, which eql? leaves out.
      def ordered(given)
        case given
        when Array then given.map { |one| ordered(one) }
        when Hash then [Hash, given.map { |pair| ordered(pair) }]
        else given
        end
      end

      # A copy of the words: the caller may change its own later.
      def own(given)
        case given
        when String then given.frozen? ? given : given.dup.freeze
        when Array then given.map { |one| own(one) }
        when Hash then given.to_h { |key, value| [own(key), own(value)] }
        else given
        end
      end
    end
  end
end
