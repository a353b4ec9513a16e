# frozen_string_literal: true

require_relative "flight"

module Polycache
  # What hears of the loads of a handle: of all caches that have it in common. Nothing does until
  # +polycache/opentelemetry+ is used.
  # @api private
  class Observers
    # What reads the statistics of the handle; set when somebody wants them.
    attr_accessor :counts

    def initialize
      # Replaced, never changed: other threads may go through it.
      @listeners = [].freeze
      @counts = nil
    end

    def heard? = !@listeners.empty?

    # @param listener [#loaded, #waited] is told an outcome and seconds, or seconds
    def add(listener)
      @listeners = [*@listeners, listener].freeze
    end

    def remove(listener)
      @listeners = @listeners.reject { |one| one.equal?(listener) }.freeze
    end

    # A block that loads was left. The native extension calls it, too.
    #
    # @param how [true, Exception, nil] by its end, by an error, or in another way: a throw,
    #   a break, a thread that was killed
    # @param seconds [Float]
    def loaded(how, seconds)
      outcome = "abandoned"
      outcome = "loaded" if how == true
      outcome = "failed" if how.is_a?(Exception) && Flight.of_loader?(how)
      @listeners.each { |listener| listener.loaded(outcome, seconds) }
    end

    # A caller has waited for the loads of others.
    def waited(seconds)
      @listeners.each { |listener| listener.waited(seconds) }
    end

    # Runs a block that loads, and tells how long it took.
    def load
      how = nil
      began = Flight.now
      brought = yield
      how = true
      brought
    rescue Exception => e # rubocop:disable Lint/RescueException
      how = e
      raise
    ensure
      loaded(how, Flight.now - began)
    end

    # What is told of one caller that waits.
    class Waiting
      def initialize(observers)
        @observers = observers
        @began = Flight.now
      end

      # It waits no more.
      def over
        return unless @began

        waited = Flight.now - @began
        @began = nil
        @observers.waited(waited)
      end
    end
  end

  private_constant :Observers
end
