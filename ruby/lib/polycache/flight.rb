# frozen_string_literal: true

require_relative "memory/copies"

module Polycache
  # What a load brought the callers that joined it.
  # @api private
  class Landed
    extend Memory::HandOut

    # The value, as it was kept: each gets a copy by the plan; nil is the object itself.
    def self.with(kept, plan) = new(:value, kept, plan)

    # The loader's error.
    def self.failed(error) = new(:failed, error, nil)

    def initialize(how, value, plan)
      @how = how
      @value = value
      @plan = plan
    end

    # Its block of many keys left this one out: others of many keys have no value for it either, and
    # those who want it alone look for themselves.
    def absent? = @how == :absent

    # @return [Boolean] whether it is a value or an error
    def any? = !(absent? || @how == :nothing)

    # @return [Object] a value of the caller's own
    # @raise the loader's error
    def value
      # The cause is the loader's, not what the caller is rescuing now.
      raise @value, cause: @value.cause if @how == :failed

      Landed.out(@value, @plan)
    end

    # Its caller is gone, or its value is for no other caller: those that joined look themselves.
    NOTHING = new(:nothing, nil, nil).freeze
    ABSENT = new(:absent, nil, nil).freeze

    private_class_method :new
  end

  # The callers of this process that joined one load. None of them polls: they are woken.
  #
  # Each has a lock of its own. When a thread is killed that waits for a Mutex, it may keep the
  # wake-up that was meant for the next in the queue (CRuby's do_mutex_lock): here there is none.
  # @api private
  class Flight
    # A thread that tells others is not stopped in the middle of it.
    LATER = { Object => :never }.freeze
    private_constant :LATER

    # Seconds on a clock that is never set.
    def self.now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    # Tells what came of a load. Only the first call counts.
    #
    # @param flights [Array<Flight>]
    def self.tell(flights, landed)
      Thread.handle_interrupt(LATER) { flights.each { |flight| flight.tell(landed) } }
    end

    # The native extension calls the following six.
    #
    # Another value like one that was handed out over a directory; the same where it has no copies.
    def self.copy_of(value, types)
      Landed.out(*Memory::Copies.keep_mapped(value, false, types).first(2))
    rescue UnsupportedValue
      value
    end

    #
    # The value has copies: those of the type map.
    def self.land(flights, value)
      tell(flights, Landed.with(*Memory::Copies.keep_mapped(value, false, Types::NONE).first(2)))
    end

    # It holds types as Named; each gets what +decode+ makes of a copy.
    def self.land_named(flights, value, types)
      tell(flights, Landed.with(value, types.plan(false)))
    end

    # The value has no copies: all get the object itself.
    def self.share(flights, value) = tell(flights, Landed.with(value, nil))

    # The block was left by an error. One that is not the loader's, but the caller's end, is not
    # told to others.
    def self.fail(flights, error)
      return give_up(flights) unless of_loader?(error)

      tell(flights, Landed.failed(error))
    end

    def self.give_up(flights) = tell(flights, Landed::NOTHING)

    def self.leave_out(flights) = tell(flights, Landed::ABSENT)

    # @return [Boolean] false for what ends a thread or program: Interrupt, SystemExit
    def self.of_loader?(error) = error.is_a?(StandardError) || error.is_a?(ScriptError)

    # Waits as +wait+ does, until one of these has landed.
    def self.wait_for_any(flights, seconds)
      waiter = Waiter.new
      flights.each { |flight| flight.list(waiter) }
      waiter.wait(seconds) { flights.any?(&:landed) }
    ensure
      flights.each { |flight| flight.forget(waiter) }
    end

    # @return [Landed, nil] what came of it; nil while there is nothing yet
    attr_reader :landed

    def initialize
      @landed = nil
      # The callers that wait, in order.
      @waiters = {}.compare_by_identity
    end

    # Waits without blocking other threads or, under a Fiber scheduler, other fibers.
    #
    # @param seconds [Float] at most
    # @return [Landed, nil] nil when there is nothing yet, or nothing for this caller
    def wait(seconds)
      Flight.wait_for_any([self], seconds)
      @landed if @landed&.any?
    end

    def list(waiter) = @waiters[waiter] = true
    def forget(waiter) = @waiters.delete(waiter)

    def tell(landed)
      @landed ||= landed
      while (waiter, = @waiters.shift)
        waiter.wake
      end
    end

    # A caller that waits.
    class Waiter
      def initialize
        @lock = Mutex.new
        @woken = ConditionVariable.new
      end

      # Until the block is true, or the time is over.
      def wait(seconds)
        last = Flight.now + seconds
        @lock.synchronize do
          until yield
            left = last - Flight.now
            break unless left.positive?

            @woken.wait(@lock, left)
          end
        end
      end

      def wake = @lock.synchronize { @woken.signal }
    end
    private_constant :Waiter
  end

  private_constant :Flight, :Landed
end
