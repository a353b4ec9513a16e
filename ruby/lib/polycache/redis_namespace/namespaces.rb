# frozen_string_literal: true

require_relative "../errors"
require_relative "prefix"

module Polycache
  module RedisNamespace
    # The namespace of a client: a name, a list of nested ones, or a Proc that is called at every
    # command.
    class Namespaces
      # Prefixes kept, for a Proc that gives many names.
      KEPT = 1024

      # @param namespace [String, Symbol, Array, #call]
      # @param separator [String] between nested names, and between these and a key
      # @raise [InvalidArgument] one of them is wrong
      def initialize(namespace, separator = Prefix::SEPARATOR)
        @separator = checked(separator)
        @namespace = namespace
        @known = {}
        @fixed = resolve(namespace) unless dynamic?(namespace)
      end

      # @return [Prefix, nil] always the same one; nil with a Proc
      attr_reader :fixed

      # @return [Prefix] of this moment
      # @raise [InvalidArgument] a Proc gave no name: nothing is sent without one
      def prefix = @fixed || resolve(@namespace)

      private

      # Without one, a namespace would hold every other whose name begins with its own name.
      def checked(separator)
        text = separator.is_a?(String) && separator.valid_encoding?
        return separator if text && !separator.empty?

        raise InvalidArgument, "a separator is text that is not empty, not #{separator.inspect}"
      end

      def dynamic?(namespace)
        namespace.respond_to?(:call) || (namespace.is_a?(Array) && namespace.any? do |one|
                                           dynamic?(one)
                                         end)
      end

      def resolve(namespace)
        text = flatten(namespace).join(@separator)
        @known[text] || remember(text)
      end

      # A new Hash instead of a changed one: threads read the old one meanwhile.
      def remember(text)
        prefix = Prefix.new(text, @separator)
        @known = @known.size < KEPT ? @known.merge(text => prefix) : { text => prefix }
        prefix
      end

      def flatten(namespace)
        namespace = namespace.call if namespace.respond_to?(:call)
        if namespace.is_a?(Array) && !namespace.empty?
          return namespace.flat_map do |one|
                   flatten(one)
                 end
        end

        text = namespace.to_s if namespace.is_a?(String) || namespace.is_a?(Symbol)
        return [text] unless text.nil? || text.empty? || !text.valid_encoding?

        raise InvalidArgument,
              "a namespace is text, a list of texts or a Proc that gives one, " \
              "not #{namespace.inspect}"
      end
    end
  end
end
