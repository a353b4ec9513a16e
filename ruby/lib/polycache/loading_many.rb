# frozen_string_literal: true

require_relative "errors"
require_relative "flight"
require_relative "loading"
require_relative "memory/key"
require_relative "several"
require_relative "ttl_option"

module Polycache
  # get_or_set_many of one caller (spec/semantics.md). It begins the load of every key that no other
  # caller loads, and runs its block once for all of them. It waits for keys that others load after
  # that, when it holds no load; for those that fall to it after all, it runs the block again.
  # @api private
  class LoadingMany
    include TtlOption

    # A thread that gives loads back is not stopped in the middle of it.
    LATER = { Object => :never }.freeze
    private_constant :LATER

    # @param tiers what Loading drives
    # @param keys [Enumerable<String, Symbol>]
    # @param ttl [String, Numeric, nil, :default]
    # @param load [#call] is given keys, and answers with a Hash of them to their values
    # @raise [InvalidKey, InvalidArgument]
    def initialize(tiers, keys, ttl, load)
      @tiers = tiers
      @keys = keys.to_a
      @ttl = ttl
      @load = load
      # Keys as they were given first, by the one form of each.
      @given = {}
      @keys.each { |key| @given[Memory::Key.of(key)] ||= key }
      check_ttl(ttl)
      Several.check_open(tiers)
      @found = {}
      @waited = 0.0
    end

    # @return [Hash] the keys that have a value, as they were given, with it
    # @raise [WaitTimeout] after waiting +wait_timeout+ for others
    # @raise [InvalidArgument] for a wrong answer of the block, and when it would wait for
    #   itself; what the block raises; what +get+ raises
    def values
      busy = load_free(@given.keys, nil)
      busy = wait(busy) until busy.empty?
      @keys.each_with_object({}) do |key, values|
        name = Memory::Key.of(key)
        next if values.key?(key) || !@found.key?(name)

        value = @found[name]
        # Each form in which a key was given has a value of its own.
        values[key] = key.eql?(@given[name]) ? value : @tiers.copy_of(value)
      end
    ensure
      @tiers.observers.waited(@waited) if @waited.positive?
    end

    private

    # Waits for the first of these keys.
    # @return [Array<String>] those that are still loaded by others
    def wait(busy)
      landed = waiting { Loading.join(@tiers, busy.first, @waited) }
      # No caller of this process loads it, but another process may.
      return load_free(busy, @waited) if landed.nil?
      return busy unless landed

      @found[busy.first] = @tiers.joined(landed.value)
      busy.drop(1)
    end

    # Reads keys, and loads those that no other caller loads.
    #
    # @param waited [Float, nil] seconds that the caller has waited, if it is to wait for other
    #   processes that load the first key
    # @return [Array<String>] those that others load
    def load_free(names, waited)
      loads = []
      mine = {}
      busy = names.select do |name|
        others = read(name, waited, loads, mine)
        waited = nil
        others
      end
      run_block(mine) unless mine.empty?
      busy
    ensure
      Thread.handle_interrupt(LATER) { loads.each(&:free) }
    end

    # Reads a key, or begins its load.
    # @return [Boolean] whether another loads it
    def read(name, waited, loads, mine)
      before = loads.size
      value = waiting(waited) { @tiers.begin_load(name, @ttl, waited, Loading::BUSY, loads) }
      return true if Loading::BUSY.equal?(value)

      loads.size > before ? mine[name] = value : @found[name] = value
      false
    end

    # Runs the block, and ends these loads with what it returns.
    def run_block(mine)
      brought = brought_for(mine)
      failed = nil
      mine.each do |name, load|
        next load.free unless brought.key?(name)

        @found[name] = @tiers.fill(load, brought[name])
      rescue StandardError, ScriptError => e
        failed ||= e # The other values are stored all the same.
      end
      raise failed if failed
    end

    # @return [Hash] values by the one form of their keys
    def brought_for(mine)
      brought = run(mine.keys.map { |name| @given[name] })
      unless brought.is_a?(Hash)
        raise InvalidArgument, "the block of get_or_set_many returns a Hash of the keys that it " \
                               "is given to their values, not #{brought.class}"
      end
      brought.transform_keys { |key| asked(key, mine) }
    rescue StandardError, ScriptError => e
      mine.each_value { |load| load.fail(e) }
      raise
    end

    def run(keys)
      observers = @tiers.observers
      observers.heard? ? observers.load { @load.call(keys) } : @load.call(keys)
    end

    def asked(key, mine)
      name = Memory::Key.of(key)
      return name if mine.key?(name)

      raise InvalidArgument, "the block of get_or_set_many was not asked for #{key.inspect}"
    rescue InvalidKey
      raise InvalidArgument, "the block of get_or_set_many was not asked for #{key.inspect}"
    end

    # Counts the time of the block as time that the caller has waited, if it waits.
    def waiting(waits = true) # rubocop:disable Style/OptionalBooleanParameter
      return yield unless waits

      began = Flight.now
      begin
        yield
      ensure
        @waited += Flight.now - began
      end
    end
  end

  private_constant :LoadingMany
end
