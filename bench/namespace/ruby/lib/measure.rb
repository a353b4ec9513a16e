# frozen_string_literal: true

require "benchmark/ips"

# What a round is: the unit of its figure, and how a callable of one operation is measured.
module Measure
  # benchmark-ips looks at the clock every 100 ms; a round is not much longer.
  class Job < Benchmark::IPS::Job
    def cycles_per_100ms(microseconds, iterations)
      [super / 10, 1].max
    end
  end

  # Share of a round's seconds that benchmark-ips warms up in.
  WARM_UP = 0.2
  # What a round of allocations counts over: enough that an object now and then shows.
  OPERATIONS = 200

  def self.rate(operation, seconds)
    job = Job.new(quiet: true)
    job.config(warmup: seconds * WARM_UP, time: seconds * (1 - WARM_UP))
    job.report(&operation)
    job.run
    job.full_report.entries.first.ips
  end

  def self.nanoseconds(operation, seconds) = 1e9 / rate(operation, seconds)

  # Objects that one operation allocates, in Ruby's own count.
  def self.objects(operation, _seconds)
    before = GC.stat(:total_allocated_objects)
    OPERATIONS.times { operation.call }
    (GC.stat(:total_allocated_objects) - before) / OPERATIONS.to_f
  end

  # What a round of instructions counts, once and then twice (bench/harness/callgrind.py).
  COUNTED = 20

  # Marks what valgrind is to count: COUNTED operations, then twice as many. Without collections of
  # garbage, which come when they come; what is left for them is counted by .objects.
  def self.instructions(operation, _seconds)
    GC.start
    GC.disable
    mark
    COUNTED.times { operation.call }
    mark
    (2 * COUNTED).times { operation.call }
    mark
    COUNTED
  ensure
    GC.enable
  end

  def self.mark = Process.clock_getres(Process::CLOCK_MONOTONIC)
  private_class_method :mark

  UNITS = {
    "rate" => "operations per second",
    "nanoseconds" => "ns per operation",
    "objects" => "objects per operation",
    "instructions" => "instructions per operation"
  }.freeze
end
