# frozen_string_literal: true

require_relative "errors"

module Polycache
  # A class that a cache stores under a name (the option +types+ of Cache.new), with the functions
  # that make a value of its instances, and instances of that value.
  #
  #   Polycache::Type.new(Point, encode: ->(point) { [point.x, point.y] },
  #                              decode: ->(value) { Point.new(*value) })
  #
  # A Struct or a Data needs no functions: it is stored as a Hash of its members, and made by +new+.
  # Members that the class no longer has are ignored. New members are nil, or have the default of
  # +initialize+ if it takes them as optional keywords or last arguments.
  class Type
    # @return [Class]
    attr_reader :type

    # The form of a registered class: the class itself, if its kind is known, or a Type.
    # @api private
    def self.of(given) = given.is_a?(Type) ? given : new(given)

    # @param type [Class] only instances of this class are stored so, not those of its subclasses
    # @param encode [#call, nil] is given an instance, and returns any value that can be stored
    # @param decode [#call, nil] is given that value, as it is read, and returns an instance
    # @raise [InvalidArgument] for what is not a class; without functions for one that is neither a
    #   Struct nor a Data
    def initialize(type, encode: nil, decode: nil)
      unless type.is_a?(Class)
        raise InvalidArgument,
              "a registered type is a class or a Polycache::Type, not #{type.inspect}"
      end

      @type = type
      @encode, @decode = functions(encode, decode)
      freeze
    end

    # @api private
    def encode(object) = @encode.call(object)
    # @api private
    def decode(value) = @decode.call(value)

    private

    def functions(encode, decode)
      return of_kind if encode.nil? && decode.nil?
      return [encode, decode] if encode.respond_to?(:call) && decode.respond_to?(:call)

      raise InvalidArgument, "encode and decode of #{type} both answer to call"
    end

    def of_kind
      return [Members.method(:of), Members.reader(type)] if Members.known?(type)

      raise InvalidArgument, "#{type} is neither a Struct nor a Data: register " \
                             "Polycache::Type.new(#{type}, encode: ..., decode: ...)"
    end

    # The members of a Struct or a Data.
    module Members
      OF_STRUCT = Struct.instance_method(:to_h)
      # For Ruby 3.2 and newer; before, Data was another class, without +define+.
      DATA = defined?(::Data.define) ? ::Data : nil
      OF_DATA = DATA&.instance_method(:to_h)
      private_constant(*constants(false))

      module_function

      def known?(type) = (type < Struct || (DATA && type < DATA)) && type.respond_to?(:members)

      # Asked of Struct itself, because a class may have its own +to_h+.
      def of(object) = (object.is_a?(Struct) ? OF_STRUCT : OF_DATA).bind_call(object)

      # Makes an instance of a Hash of members.
      def reader(type)
        by_keyword = !(type < Struct) || type.keyword_init?
        optional = optional_keywords(type)
        least = type.instance_method(:initialize).arity
        least = least.negative? ? ~least : least
        lambda do |value|
          raise TypeError, "members are a Hash, not #{value.class}" unless value.is_a?(Hash)
          next type.new(*in_order(type.members, least, value)) unless by_keyword

          type.new(**keywords(type.members, optional, value))
        end
      end

      # Without the last missing ones, except those that +initialize+ requires: what it takes
      # without them is its business.
      def in_order(members, least, value)
        last = members.rindex { |name| value.key?(name.name) }
        count = [last ? last + 1 : 0, least].max
        members.first(count).map { |name| value[name.name] }
      end

      def keywords(members, optional, value)
        members.each_with_object({}) do |name, given|
          next if optional.include?(name) && !value.key?(name.name)

          given[name] = value[name.name]
        end
      end

      def optional_keywords(type)
        parameters = type.instance_method(:initialize).parameters
        parameters.filter_map { |kind, name| name if kind == :key }
      end

      private_class_method :in_order, :keywords, :optional_keywords
    end
    private_constant :Members
  end
end
