# frozen_string_literal: true

require_relative "errors"
require_relative "flight"
require_relative "memory/duration"
require_relative "memory/key"

module Polycache
  # A lock by a key's name, from +Cache#lease+ and +MemoryCache#lease+. Over a directory it is for
  # all processes of the machine in every language, otherwise for this process' threads and fibers.
  # It has nothing to do with the key's entry, nor with loads of it.
  #
  # A holder keeps it until it releases it or dies. Under great pressure of other loads and leases
  # it may be lost: what it guards must stay right without it.
  #
  # An adapter for a cache that makes values itself uses it like dogpile's mutex:
  #
  #   lease = cache.lease("report")
  #   if lease.acquire(false)
  #     begin
  #       cache.set("report", make_report)
  #     ensure
  #       lease.release
  #     end
  #   else
  #     cache.get("report") # The old one, while another makes the new.
  #   end
  #
  # or, to run after the others, <tt>lease.synchronize { ... }</tt>.
  class Lease
    # Seconds between two attempts: an eighth of the time waited, within these bounds.
    PAUSES = (0.0001..0.02)
    private_constant :PAUSES

    # @return [String]
    attr_reader :key

    # @api private
    def initialize(tiers, key)
      @tiers = tiers
      @key = Memory::Key.of(key)
      @held = @process = nil
    end

    # Takes the lock. It is not reentrant.
    #
    # @param wait [Boolean, String, Numeric] true waits for up to the cache's +wait_timeout+, false
    #   not at all; or a duration
    # @return [Boolean] whether it was acquired
    # @raise [InvalidArgument, Closed]
    def acquire(wait = true) # rubocop:disable Style/OptionalBooleanParameter
      seconds = seconds_of(wait)
      began = Flight.now
      until (held = @tiers.lock(@key))
        waited = Flight.now - began
        return false if waited >= seconds

        sleep([(waited / 8).clamp(PAUSES), seconds - waited].min)
      end
      @process = Process.pid
      @held = held
      true
    end

    # Gives the lock back. Does nothing if this object does not hold it, or in a forked child,
    # because the parent holds it.
    #
    # @return [nil]
    def release
      held = @held
      @held = nil
      @tiers.unlock(@key, held) if held && @process == Process.pid
      nil
    end

    # @return [Boolean] whether the lock is held
    # @raise [Closed]
    def locked? = @tiers.locked?(@key)

    # Runs the block while the lock is held.
    #
    # @param wait [Boolean, String, Numeric] as for +acquire+
    # @return [Object] what the block returns
    # @raise [WaitTimeout] when another holds it for longer than that
    def synchronize(wait = true) # rubocop:disable Style/OptionalBooleanParameter
      raise WaitTimeout, "another holds the lease of #{@key.inspect}" unless acquire(wait)

      begin
        yield
      ensure
        release
      end
    end

    private

    def seconds_of(wait)
      case wait
      when true then @tiers.wait_timeout
      when false then 0
      else Memory::Duration.milliseconds("wait", wait) / 1000.0
      end
    end
  end
end
