# frozen_string_literal: true

module Polycache
  # A value under the name of a registered type. A cache without the name in its option +types+
  # reads one. Nothing is lost: +set+ writes it as it was read.
  #
  #   Polycache::Named.new("user", { "id" => 1 })
  class Named
    # @return [String] the type's name: text of 1 to 255 bytes, which +set+ checks
    attr_reader :name
    # @return [Object] what the type's +encode+ made of the object, usually a Hash of its members
    attr_reader :value

    # @param name [String, Symbol]
    # @param value [Object] any value of the type map
    def initialize(name, value)
      @name = name.is_a?(Symbol) ? name.name : name
      @name = @name.dup.freeze if @name.is_a?(String) && !@name.frozen?
      @value = value
      freeze
    end

    # @return [Boolean] whether it is another Named with an equal name and an equal value
    def ==(other) = other.instance_of?(Named) && name == other.name && value == other.value

    # @return [Boolean]
    def eql?(other) = other.instance_of?(Named) && name.eql?(other.name) && value.eql?(other.value)

    # @return [Integer]
    def hash = [Named, name, value].hash

    # @return [String]
    def inspect = "#<#{self.class} #{name.inspect} #{value.inspect}>"
  end
end
