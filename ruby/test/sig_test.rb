# frozen_string_literal: true

require "test_helper"

begin
  require "rbs"
rescue LoadError
  # It comes with most Rubies.
  warn "sig_test.rb: no rbs here"
end

# The types in sig/ are of what there is.
class SigTest < Minitest::Test
  FILE = File.expand_path("../sig/polycache.rbs", __dir__)

  def setup
    skip "no rbs here" unless defined?(RBS)
    parsed = RBS::Parser.parse_signature(File.read(FILE))
    # Newer versions give directives too.
    @polycache = (parsed.last.is_a?(Array) ? parsed.last : parsed).first
  end

  def declared(*path)
    path.reduce(@polycache) do |outer, name|
      outer.members.find { |member| member.respond_to?(:members) && member.name.to_s == name }
    end
  end

  def methods_of(*path)
    names = declared(*path).members.map do |member|
      case member
      when RBS::AST::Members::MethodDefinition then member.name if member.kind == :instance
      when RBS::AST::Members::Alias then member.new_name
      when RBS::AST::Members::AttrReader then member.name
      end
    end
    names.compact.sort - [:initialize]
  end

  def test_every_public_method_has_its_type_and_no_other
    cache = Polycache::Cache

    assert_equal (cache.public_instance_methods(false) - [:inspect]).sort, methods_of("Cache")
    assert_equal cache::Atomic.public_instance_methods(false).sort, methods_of("Cache", "Atomic")
    assert_equal cache::Many.public_instance_methods(false).sort, methods_of("Cache", "Many")
    assert_equal (Polycache::MemoryCache.public_instance_methods(false) - [:inspect]).sort,
                 methods_of("MemoryCache")
    assert_equal Polycache::Memoized.public_instance_methods(false).sort, methods_of("Memoized")
    assert_equal Polycache::Memoize.public_instance_methods(false).sort, methods_of("Memoize")
    assert_equal cache::Entry.members.sort, methods_of("Cache", "Entry")
    assert_equal (Polycache::UUID.public_instance_methods(false) - %i[inspect to_s hash]).sort,
                 methods_of("UUID")
    assert_equal (Polycache::Named.public_instance_methods(false) - %i[inspect hash]).sort,
                 methods_of("Named")
    assert_equal (Polycache::Type.public_instance_methods(false) - %i[encode decode]).sort,
                 methods_of("Type")
  end

  def test_every_class_is_declared
    classes = Polycache.constants.select { |name| Polycache.const_get(name).is_a?(Class) }
    in_sig = @polycache.members.grep(RBS::AST::Declarations::Class).map { |each| each.name.name }

    assert_equal classes.sort, in_sig.sort
  end
end
