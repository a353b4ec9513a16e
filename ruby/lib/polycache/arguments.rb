# frozen_string_literal: true

require_relative "errors"

module Polycache
  # Makes keys of memoized functions from a name and arguments. Two calls have one key only if they
  # are of one function with equal arguments.
  # @api private
  module Arguments
    # The deepest nesting of lists and maps.
    DEEPEST = 128
    CLASS_OF = ::Kernel.instance_method(:class)
    SIMPLE = [Integer, Float, NilClass, TrueClass, FalseClass].freeze
    private_constant :DEEPEST, :CLASS_OF, :SIMPLE

    module_function

    # @return [Method, Proc] the one of the two that is given
    # @raise [InvalidArgument]
    def function(function, block)
      unless function.nil? ^ block.nil?
        raise InvalidArgument, "memoize takes a block or a Method: one of them"
      end
      return block || function if block || function.is_a?(Method)

      raise InvalidArgument, "memoize takes a block or a Method, not #{function.class}"
    end

    # @return [#call] gives the key for arguments
    # @raise [InvalidArgument]
    def keys(function, name, key)
      return keys_of_name(name.nil? ? name_of(function) : text_of(name)) if key.nil?

      raise InvalidArgument, "give name or key: a key is all of it" unless name.nil?
      return key if key.respond_to?(:call)

      raise InvalidArgument, "key answers to call, and #{key.inspect} does not"
    end

    # @return [String] the arguments in one form
    # @raise [InvalidArgument]
    def text(args, options)
      parts = args.map { |part| encode(part, 0) }
      options.each { |name, part| parts << "#{encode(name, 0)} => #{encode(part, 0)}" }
      parts.join(", ")
    end

    def keys_of_name(name) = ->(*args, **options) { "#{name}(#{text(args, options)})" }

    def text_of(name)
      text = name.is_a?(Symbol) ? name.name : name
      return text if text.is_a?(String) && !text.empty?

      raise InvalidArgument, "name is text, not #{name.inspect}"
    end

    # A name that tells a method from all others, in each process that has it.
    def name_of(function)
      name = function.is_a?(Method) && name_of_method(function)
      return name if name

      raise InvalidArgument,
            "#{function.inspect} has no name that tells it from other functions: give it one, " \
            "like memoize(name: \"users\"), or a key that is made of its arguments"
    end

    def name_of_method(method)
      case owner = method.receiver
      when Module then owner.name && "#{owner.name}.#{method.name}"
      when TOPLEVEL_BINDING.receiver
        file, = method.source_location
        file && "#{File.expand_path(file)}:#{method.name}"
      end
    end

    # String#dump tells texts from each other, and from bytes that are not text.
    def encode(value, depth)
      refuse("nested deeper than #{DEEPEST} Arrays and Hashes") if depth > DEEPEST
      type = Object === value ? CLASS_OF.bind_call(value) : BasicObject # rubocop:disable Style/CaseEquality
      return value.inspect if SIMPLE.include?(type)
      return string(value) if type == String
      return ":#{string(value.name)}" if type == Symbol

      deeper = ->(part) { encode(part, depth + 1) }
      return "[#{value.map(&deeper).join(", ")}]" if type == Array

      refuse("an argument of class #{type}") unless type == Hash
      "{#{value.map { |pair| pair.map(&deeper).join(" => ") }.join(", ")}}"
    end

    def string(text)
      exact = case text.encoding
              when Encoding::BINARY then true
              when Encoding::UTF_8, Encoding::US_ASCII then text.valid_encoding?
              end
      return text.dump if exact

      refuse("a String that is neither valid UTF-8 nor bytes (with the encoding BINARY)")
    end

    def refuse(what)
      raise InvalidArgument,
            "a memoized function makes its key of nil, true, false, Integers, Floats, Strings, " \
            "Symbols, and Arrays and Hashes of these, and this is #{what}: give memoize a key"
    end

    private_class_method :keys_of_name, :text_of, :name_of, :name_of_method, :encode, :string,
                         :refuse
  end

  private_constant :Arguments
end
