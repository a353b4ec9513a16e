# frozen_string_literal: true

# Values as tagged JSON, the form they have in spec/vectors and spec/conformance (spec/entry.md).
module Tagged
  module_function

  def load(tagged)
    return tagged if tagged.nil? || tagged == true || tagged == false || tagged.is_a?(String)

    tag, held = tagged.first
    case tag
    when "int" then Integer(held, 10)
    when "float" then load_float(held)
    when "bytes" then [held].pack("H*")
    when "list" then held.map { |value| load(value) }
    when "set" then held.to_set { |value| load(value) }
    when "map" then held.to_h { |pair| [pair[0], load(pair[1])] }
    when "timestamp" then Time.at(held[0], held[1], :nanosecond, in: "UTC")
    when "decimal" then BigDecimal(held)
    when "uuid" then Polycache::UUID.from_bytes([held].pack("H*"))
    when "named" then Polycache::Named.new(held[0], load(held[1]))
    when "repeat" then held[0] * held[1]
    when "invalid_text" then (+"\xED\xA0\x80").force_encoding(Encoding::UTF_8)
    else raise "unknown tag #{tag}"
    end
  end

  # Whether it is a long text, written short.
  def repeat?(tagged) = tagged.is_a?(Hash) && tagged.key?("repeat")

  # Unlike values, these forms are equal for two NaNs and differ for 0.0 and -0.0, 1 and 1.0, text
  # and bytes.
  def dump(value)
    case value
    when nil, true, false then value
    when Integer then { "int" => value.to_s }
    when Float then { "float" => dump_float(value) }
    when String then dump_string(value)
    when Array then { "list" => value.map { |element| dump(element) } }
    when Set then { "set" => value.map { |element| dump(element) }.sort_by(&:inspect) }
    when Hash then { "map" => value.map { |key, element| [dump_text(key), dump(element)] } }
    when Time then { "timestamp" => [value.to_i, value.nsec] }
    when BigDecimal then { "decimal" => decimal(value) }
    when Polycache::UUID then { "uuid" => value.bytes.unpack1("H*") }
    when Polycache::Named then { "named" => [dump_text(value.name), dump_named(value.value)] }
    else raise "not a value: #{value.inspect}"
    end
  end

  # The form to compare by: a set has no order.
  def form(value)
    case value
    when Set then { "set" => value.map { |element| form(element) }.sort_by(&:to_s) }
    when Array then { "list" => value.map { |element| form(element) } }
    when Hash then { "map" => value.map { |key, element| [dump_text(key), form(element)] } }
    when Polycache::Named then { "named" => [dump_text(value.name), form(value.value)] }
    else dump(value)
    end
  end

  # A long text, written short where vectors have one.
  def dump_named(value)
    letter = value[0] if value.is_a?(String)
    return dump(value) unless letter && value.size > 1000 && value == letter * value.size

    { "repeat" => [letter, value.size] }
  end

  def load_float(text)
    { "nan" => Float::NAN, "inf" => Float::INFINITY, "-inf" => -Float::INFINITY }.fetch(text) do
      Float(text)
    end
  end

  def dump_float(value)
    return "nan" if value.nan?

    value.infinite? ? "#{"-" if value.negative?}inf" : value.to_s
  end

  def dump_string(value)
    value.encoding == Encoding::BINARY ? { "bytes" => value.unpack1("H*") } : dump_text(value)
  end

  def dump_text(value)
    unless value.encoding == Encoding::UTF_8 && value.valid_encoding?
      raise "not UTF-8: #{value.inspect}"
    end

    value
  end

  # The text that an entry written by Ruby holds.
  def decimal(value)
    return value.to_s unless value.finite?
    return value.to_s.delete_suffix(".0") if value.zero?
    return value.to_s("F").delete_suffix(".0") if value.exponent.between?(-6, 21)

    sign, digits, = value.split
    "#{"-" if sign.negative?}#{[digits[0], digits[1..]].reject(&:empty?).join(".")}" \
      "E#{format("%+d", value.exponent - 1)}"
  end
end
