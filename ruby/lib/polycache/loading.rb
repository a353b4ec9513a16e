# frozen_string_literal: true

require_relative "errors"
require_relative "flight"
require_relative "observers"

module Polycache
  # One loader for all callers of a key (spec/semantics.md, "get_or_set"): what a caller does when
  # its key is not there and the fast way did not serve it. It is the same over a directory and in
  # memory alone, for threads and, under a Fiber scheduler, for fibers.
  #
  # The tiers answer these calls:
  # - <tt>fetch(key, ttl, waited, busy) { loader }</tt>: the value; or what the loader returns,
  #   which is stored, and told to callers that joined; or +busy+. +waited+ is nil for the fast way,
  #   which does not wait for other processes; else the seconds that the caller has waited so far.
  # - <tt>flight(key, scheduled)</tt>: the newest load of the key in this process that is open, as
  #   <tt>[Flight, seconds that it may still be waited for]</tt>, or nil. InvalidArgument when it is
  #   the caller's own, which would wait for itself; +scheduled+: its thread's other fibers go on.
  # - <tt>begin_load(key, ttl, waited, busy, loads)</tt>: as +fetch+, but in the place of running a
  #   block it gives a load, which it has put into +loads+, too. That is ended by <tt>fill(load,
  #   value)</tt>, which gives what its caller is given, <tt>load.fail(error)</tt>, +load.leave_out+
  #   or +load.free+. When +waited+ is not nil it does not wait itself: where the load has a
  #   +pause+, it is to be stepped.
  # - <tt>step_load(key, load, busy)</tt>: the value, and the load is over; the load, which its
  #   caller is to run; or +busy+, to be stepped again after +load.pause+ seconds.
  # - <tt>copy_of(value)</tt>: another value like one that was handed out, as another reader would
  #   be given it; the same where it has no copies.
  # - <tt>joined(value)</tt>: what a caller that joined is given of the value; it is counted.
  # - +wait_timeout+ (seconds), +count_wait_timeout+, <tt>closed?</tt>, +observers+ (Observers);
  #   +count_absent+: a caller that joined was told that there is no value.
  # @api private
  module Loading
    # The answer of the fast way when another caller loads.
    BUSY = Object.new.freeze

    module_function

    # @return [Object] the value, of whichever load brings it first
    # @raise [WaitTimeout]
    # @raise [InvalidArgument] when the caller would wait for itself
    # @raise what a loader raised that the caller joined; what +fetch+ raises
    def wait(tiers, key, ttl, &load)
      return wait_unobserved(tiers, key, ttl, &load) unless tiers.observers.heard?

      waiting = Observers::Waiting.new(tiers.observers)
      begin
        # The wait is over when the caller loads itself.
        wait_unobserved(tiers, key, ttl) do
          waiting.over
          load.call
        end
      ensure
        waiting.over
      end
    end

    # As +wait+, when nobody is to be told.
    def wait_unobserved(tiers, key, ttl, &load)
      began = Flight.now
      # Not `loop`, which would take a loader's StopIteration for its own end.
      while true # rubocop:disable Style/InfiniteLoop
        waited = Flight.now - began
        landed = join(tiers, key, waited)
        if landed.nil?
          value = tiers.fetch(key, ttl, waited, BUSY, &load)
          return value unless BUSY.equal?(value)
        elsif landed
          return tiers.joined(landed.value)
        end
      end
    end

    # @param waited [Float] seconds that the caller has waited for others
    # @return [Landed, false, nil] what a load brought that the caller joined; false: it brought
    #   nothing, or takes too long; nil: there is none to join
    # @raise [WaitTimeout, InvalidArgument]
    def join(tiers, key, waited)
      flight, seconds = tiers.flight(key, !Fiber.current_scheduler.nil?)
      return unless flight

      flight.wait([left_of(tiers, waited), seconds].min) || false
    end

    # @return [Float] seconds that the caller may still wait
    # @raise [WaitTimeout]
    def left_of(tiers, waited)
      left = tiers.wait_timeout - waited
      return left if left.positive?

      tiers.count_wait_timeout
      raise WaitTimeout, "waited #{tiers.wait_timeout} s for the loads of others, and none " \
                         "brought the value: try again, or raise wait_timeout"
    end
  end

  private_constant :Loading
end
