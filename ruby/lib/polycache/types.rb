# frozen_string_literal: true

require "set"
require_relative "errors"
require_relative "named"
require_relative "type"
require_relative "uuid"
require_relative "types/reading"

module Polycache
  # The types that a cache knows by name: its option +types+ (spec/entry.md, "Registered types").
  # The native extension asks the same object.
  # @api private
  class Types
    MOST_BYTES = 255
    CLASS_OF = ::Kernel.instance_method(:class)
    # Classes with a row of their own in the type map.
    OF_THE_MAP = [NilClass, TrueClass, FalseClass, Integer, Float, String, Array, Hash, Set, Time,
                  UUID, Named].freeze
    private_constant(*constants(false) - [:Reading])

    # @param given [Hash, nil] the option: names and classes or Type objects
    # @raise [InvalidArgument]
    def self.of(given)
      case given
      when nil then NONE
      when Types then given
      when Hash then new(given)
      else raise InvalidArgument, "types is a Hash of names and types, not #{given.inspect}"
      end
    end

    # The errors that a type's functions become. The cause is what they raised, and may quote the
    # value; the message does not.
    #
    # @return [Error]
    def self.error(code, path, message, cause)
      raise Error.build(code, message, { path: path }), cause: cause
    rescue Error => e
      e
    end

    # @raise [InvalidArgument]
    def initialize(given)
      @by_name = {}
      @by_class = {}.compare_by_identity
      given.each { |name, type| add(name_of(name), Type.of(type)) }
      @plans = [false, true].product([false, true]).to_h do |freeze, graph|
        [[freeze, graph], Reading::Plan.new(self, freeze, graph)]
      end
      freeze
    end

    # @return [Boolean]
    def empty? = @by_name.empty?

    # @return [Type, nil]
    def type(name) = @by_name[name]

    # Whether instances of the object's class are stored under a name.
    def registered?(object) = !empty? && @by_class.key?(class_of(object))

    # Runs a function of users.
    #
    # @return [Named, nil] what is stored of an object; nil when its class is not registered
    def encode(object)
      return if empty?

      name = @by_class[class_of(object)] or return
      Named.new(name, @by_name[name].encode(object))
    end

    # Turns an error of +encode+ into ours.
    # @return [UnsupportedValue]
    def unsupported(object, path, cause)
      message = "cannot store the value at #{path}: the encode of #{class_of(object)} raised " \
                "#{cause.class}"
      Types.error("unsupported_value", path, message, cause)
    end

    # What a reader is given of a value that has no other owner. Runs functions of users.
    #
    # @raise [WrongType]
    def read(value) = empty? ? value : Reading.new(self).of(value)

    # As +read+, where the value is not only this reader's.
    def copy(value) = plan(false).copy(value)

    # The plan by which a value that is kept, and holds a Named, is copied out.
    #
    # @param freeze [Boolean] whether it is kept frozen to its depth, and handed out so
    # @param graph [Boolean] whether something in it is reached twice
    # @return [Reading::Plan, nil] nil: it is handed out itself
    def plan(freeze, graph: false) = freeze && empty? ? nil : @plans[[freeze, graph]]

    private

    # Also for a BasicObject, as every SimpleDelegator is: Kernel's method binds to any object.
    def class_of(object) = CLASS_OF.bind_call(object)

    def name_of(name)
      text = name.is_a?(Symbol) ? name.name : name
      utf8 = text.encode(Encoding::UTF_8) if text.is_a?(String) && text.encoding != Encoding::BINARY
      return -utf8 if utf8&.valid_encoding? && utf8.bytesize.between?(1, MOST_BYTES)

      raise wrong_name(name)
    rescue EncodingError
      raise wrong_name(name)
    end

    def wrong_name(name)
      given = name.inspect
      InvalidArgument.new("the name of a type is text of 1 to #{MOST_BYTES} bytes, not #{given}")
    end

    def add(name, type)
      klass = type.type
      if OF_THE_MAP.include?(klass) || (defined?(::BigDecimal) && klass == ::BigDecimal)
        raise InvalidArgument, "#{klass} is a value without being registered (type #{name.inspect})"
      end
      raise InvalidArgument, "two types are called #{name.inspect}" if @by_name[name]

      if @by_class[klass]
        raise InvalidArgument,
              "#{klass} has two names: #{@by_class[klass].inspect} and #{name.inspect}"
      end

      @by_name[name] = type
      @by_class[klass] = name
    end

    NONE = new({})
  end

  private_constant :Types
end
