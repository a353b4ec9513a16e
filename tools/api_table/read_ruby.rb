# frozen_string_literal: true

# Prints what the Ruby gem offers, as JSON: by reflection, and the YARD comments above methods.
#
#   ruby -Iruby/lib read_ruby.rb FOLDER
#
# FOLDER is what paths are relative to.

require "json"
require "tmpdir"

# What one class offers.
class Reader
  # What programs write with signs or in the language's own way.
  SIGNS = { each: "iteration" }.freeze
  # Of objects as such.
  SKIPPED = %i[inspect to_s].freeze

  def initialize(folder)
    @folder = "#{File.expand_path(folder)}/"
  end

  # @return [Array<Hash>] the public methods, with those of the gem's modules that it includes
  def methods_of(cls)
    owners = cls.ancestors.take_while { |one| one != Object }.select { |one| ours?(one) }
    names = owners.flat_map { |owner| owner.public_instance_methods(false) }.uniq - SKIPPED
    own = names.map { |name| method_said(cls.instance_method(name), name, SIGNS[name]) }
    if cls.singleton_methods(false).include?(:open)
      own << method_said(cls.method(:open), :open, "scope")
    end
    own.reject { |said| said[:private] }
  end

  # @return [Array<Hash>] the options that are accepted, with their documentation
  def options_of(accepted, documented, place)
    accepted.map do |name|
      { name: name.to_s, at: place, doc: documented.fetch(name.to_s, "") }
    end + (documented.keys - accepted.map(&:to_s)).map do |name|
      { name: name, at: place, doc: documented[name], refused: true }
    end
  end

  # @param made [Object] what a method gave: a Struct, a Data, a Hash or nil
  # @param method [UnboundMethod, nil] the method
  def fields_of(made, method = nil)
    names = case made
            when nil then return []
            when Hash then made.keys
            else made.class.members
            end
    at = made.class.name.start_with?("Polycache") ? at_of_constant(made.class) : place_of(method)
    names.map { |name| { name: name.to_s, at: at } }
  end

  def errors
    Polycache::Error.subclasses.map do |cls|
      carried = cls.public_instance_methods(false).reject { |name| name.end_with?("?") }
      carried << :retryable if cls::RETRYABLE
      { name: cls.name.split("::").last, code: cls::CODE, arguments: carried,
        at: at_of_constant(cls) }
    end
  end

  # The comment above a line of a file.
  def comment(file, line)
    above = File.readlines(file, chomp: true).take(line - 1).reverse
    above.take_while { |text| text.match?(/^\s*#/) }.reverse.map { |text| text.sub(/^\s*# ?/, "") }
  end

  def comment_of(method) = comment(*method.source_location)

  def place_of(method) = place(*method.source_location)

  def place(file, line) = "#{file.delete_prefix(@folder)}:#{line}"

  # <tt>@param name [Type] text</tt>, with the lines below that are set in more.
  def params(comment)
    tagged(comment, /^@(?:param|option \w+) +:?(\w+) *(?:\[.*?\])?(.*)/)
  end

  # <tt>* +name+ [Type] text</tt>, and <tt>- name: text</tt>
  def bullets(comment)
    tagged(comment, /^\s*[*-] \+?(\w+)\+?(?: \[.*?\]|:)(.*)/)
  end

  private

  def ours?(owner) = owner.name.to_s.start_with?("Polycache")

  def tagged(comment, form)
    comment.each_with_object([{}, nil]) do |line, state|
      found = form.match(line)
      if found
        state[0][state[1] = found[1]] = found[2].strip
      elsif line.match?(/^(@|\S|\s*$)/)
        state[1] = nil
      elsif state[1]
        state[0][state[1]] += " #{line.strip}"
      end
    end.first
  end

  def method_said(method, name, word = nil)
    comment = method.source_location ? comment_of(method) : []
    arguments = method.parameters.filter_map do |kind, argument|
      argument if %i[req opt key keyreq].include?(kind)
    end
    # A sign or a way of the language, whose arguments are the language's.
    arguments = [] if word || !name.match?(/\A[a-z]/)
    # A block is an argument without a name: a loader, or the function where one is asked for.
    loads = word.nil? && comment.any? { |line| line.start_with?("@yieldreturn") }
    arguments << :loader if loads && !arguments.include?(:function)
    { name: name.to_s, **(word ? { word: word } : {}), arguments: arguments,
      at: method.source_location ? place_of(method) : "",
      private: comment.any? { |line| line.start_with?("@api private") } }
  end

  def at_of_constant(cls)
    file, line = Object.const_source_location(cls.name)
    file ? place(file, line) : ""
  end
end

# What a gem offers, from its classes.
class Package
  def initialize(folder)
    @read = Reader.new(folder)
  end

  def said
    { cache: cache, memory_cache: memory_cache,
      lease: { methods: @read.methods_of(Polycache::Lease) },
      redis: { options: redis }, errors: { errors: @read.errors } }
  end

  private

  def cache
    made = of_a_directory
    tier = Polycache::Memory::Settings::TIER
    make = Polycache::Cache.instance_method(:initialize)
    documented = @read.params(@read.comment_of(make)).except("options")
    place = @read.place_of(make)
    { methods: @read.methods_of(Polycache::Cache), **made,
      options: @read.options_of(Polycache::Cache::OPTIONS.keys, documented, place),
      memory: memory_options(tier, place) }
  end

  # Those of the memory tier are documented at MemoryCache, which takes them too.
  def memory_options(tier, place)
    documented = memory_documented.slice(*tier.map(&:to_s))
    @read.options_of(tier, documented, place)
  end

  def memory_documented
    comment = @read.comment_of(Polycache::MemoryCache.instance_method(:initialize))
    @read.bullets(comment).merge(@read.params(comment)).except("options")
  end

  def of_a_directory
    Dir.mktmpdir do |folder|
      cache = Polycache::Cache.new(path: folder)
      cache.set("key", "value")
      { statistics: given(cache, :stats), entry: given(cache, :entry, "key"),
        check: given(cache, :check) }
    ensure
      cache&.close
    end
  end

  def memory_cache
    cache = Polycache::MemoryCache.new
    cache.set("key", "value")
    make = Polycache::MemoryCache.instance_method(:initialize)
    place = @read.place_of(make)
    accepted = Polycache::Memory::Settings::ALL
    { methods: @read.methods_of(Polycache::MemoryCache),
      options: @read.options_of(accepted, memory_documented, place),
      events: [], causes: causes(place),
      statistics: given(cache, :stats), entry: given(cache, :entry, "key") }
  end

  # The fields of what a method gives, where there is such a method.
  def given(cache, name, *arguments)
    return [] unless cache.respond_to?(name)

    @read.fields_of(cache.public_send(name, *arguments), cache.class.instance_method(name))
  end

  # The Symbols that the documentation of the listener names.
  def causes(place)
    text = memory_documented.find { |name, _| name.end_with?("_listener") }&.last.to_s
    text.scan(/\+:(\w+)\+/).flatten.map { |cause| { name: cause, at: place } }
  end

  # The comment above the module says what `custom` takes.
  def redis
    file, = Polycache::RedisNamespace.instance_method(:connect).source_location
    line = File.readlines(file).index { |text| text.match?(/^\s*module RedisNamespace/) } + 1
    documented = @read.bullets(@read.comment(file, line))
    documented.map do |name, doc|
      { name: name, at: @read.place(file, line), doc: doc, required: name == "namespace" }
    end
  end
end

require "polycache"
puts JSON.generate(Package.new(ARGV.fetch(0)).said)
