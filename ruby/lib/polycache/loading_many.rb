# frozen_string_literal: true

require_relative "errors"
require_relative "flight"
require_relative "loading"
require_relative "memory/key"
require_relative "many_arguments"
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
      ManyArguments.check_open(tiers)
      @found = {}
      @left = @given.keys
      # All loads that it began.
      @loads = []
      # Those that wait for other processes, and what it joined, by key.
      @waits = {}
      @joined = {}
      @waited = 0.0
    end

    # @return [Hash] the keys that have a value, as they were given, with it
    # @raise [WaitTimeout] after waiting +wait_timeout+ for others
    # @raise [InvalidArgument] for a wrong answer of the block, and when it would wait for
    #   itself; what the block raises; what +get+ raises
    def values
      ask { |name, mine| found?(name, mine) }
      until @left.empty?
        ask { |name, mine| found_after_all?(name, mine) }
        wait
      end
      @keys.each_with_object({}) do |key, values|
        name = Memory::Key.of(key)
        next if values.key?(key) || !@found.key?(name)

        value = @found[name]
        # Each form in which a key was given has a value of its own.
        values[key] = key.eql?(@given[name]) ? value : @tiers.copy_of(value)
      end
    ensure
      Thread.handle_interrupt(LATER) { @loads.each(&:free) }
      @tiers.observers.waited(@waited) if @waited.positive?
    end

    # What it joined, and until when it waits for that.
    Joined = Struct.new(:flight, :last) do
      def left = last - Flight.now
      def over? = flight.landed || !left.positive?
    end
    private_constant :Joined

    private

    # Asks for all keys that are left, and runs the block for those that this caller is to load. The
    # block is given a key, and a Hash that it puts the load into; it says whether others load it.
    def ask
      mine = {}
      @left = @left.reject { |name| yield name, mine }
      return if mine.empty?

      # No load is listed that does nothing while the block runs. They are begun anew then.
      @waits.each_value(&:free)
      @waits.clear
      run_block(mine)
    end

    # Reads a key, or begins its load, if nobody else loads it.
    # @return [Boolean] false: another loads it
    def found?(name, mine, waited = nil)
      before = @loads.size
      value = @tiers.begin_load(name, @ttl, waited, Loading::BUSY, @loads)
      return false if Loading::BUSY.equal?(value)
      return found(name, value) unless @loads.size > before
      return step?(name, @waits[name] = value, mine) if value.pause

      mine[name] = value
      true
    end

    # As +found?+, for a key that another loaded before. It is joined, or asked for again.
    def found_after_all?(name, mine)
      return step?(name, @waits[name], mine) if @waits.key?(name)
      return false if @joined[name] && !@joined[name].over?

      landed = @joined.delete(name)&.flight&.landed
      return found(name, @tiers.joined(landed.value)) if landed&.any?
      return absent if landed&.absent?

      flight, seconds = @tiers.flight(name, !Fiber.current_scheduler.nil?)
      return found?(name, mine, @waited) unless flight

      @joined[name] = Joined.new(flight, Flight.now + seconds)
      false
    end

    def found(name, value)
      @found[name] = value
      true
    end

    # Another's block left the key out.
    def absent
      @tiers.count_absent
      true
    end

    # Asks again for a key that another process loads.
    def step?(name, load, mine)
      value = @tiers.step_load(name, load, Loading::BUSY)
      return false if Loading::BUSY.equal?(value)

      @waits.delete(name)
      return found(name, value) unless load.equal?(value)

      mine[name] = load
      true
    end

    # Waits until one of those that it joined has landed, or it is time to ask other processes.
    def wait
      return if @left.empty?

      left = Loading.left_of(@tiers, @waited)
      began = Flight.now
      # None for a load of this process that was there just now.
      pauses = @left.map { |name| @waits[name]&.pause || @joined[name]&.left || 0 }
      Flight.wait_for_any(@joined.values.map(&:flight), [left, *pauses].min)
      @waited += Flight.now - began
    end

    # Runs the block, and ends these loads with what it returns.
    def run_block(mine)
      brought = brought_for(mine)
      failed = nil
      mine.each do |name, load|
        next load.leave_out unless brought.key?(name)

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
  end

  private_constant :LoadingMany
end
