# frozen_string_literal: true

require "json"

# What every Ruby subject of the benchmark shares: it answers the controller's lines of JSON
# (bench/host/README.md) on behalf of a subject.
#
# A subject is a class whose `new` opens the store at a `Place`, with
#   name, bounded?, durability, versions
#   operations   by name: takes [key, value] pairs, or keys and returns how many found nothing
#   fill(pairs)  writes everything, in the fastest way there is
#   value(key)   the key's value, to check what the operations read and wrote
#   turns        how often the space of a bounded store has been used over
#   close
class Session
  # Where a subject keeps its store.
  Place = Struct.new(:directory, :limit, :keys, :redis_port, keyword_init: true)

  # Names of the operations, the same in every language.
  PUT = "put"
  PUT_100 = "put, batches of 100"
  GET = "get"
  GET_100 = "get, batches of 100"
  GET_WITHOUT_MEMORY = "get without memory tier"
  GET_ALL_IN_MEMORY = "get with all in memory"
  GET_TENTH_IN_MEMORY = "get with a tenth in memory"

  # What a write survives once it has returned.
  NONE = "none"
  SURVIVES_KILL = "survives kill -9"

  # Keys whose values are looked at after the fill.
  SAMPLE = 100

  def self.serve(kind)
    session = nil
    $stdin.each_line do |line|
      request = JSON.parse(line, symbolize_names: true)
      command = request.delete(:command)
      reply =
        begin
          if command == "open"
            data = request.delete(:data)
            session = new(kind.new(Place.new(**request)), data)
            session.describe
          else
            session&.public_send(command, **request) || {}
          end
        rescue StandardError => e
          { error: "#{e.class}: #{e.message}" }
        end
      puts JSON.generate(reply)
      $stdout.flush
      break if command == "close"
    end
  end

  def initialize(subject, data)
    @subject = subject
    @operations = subject.operations
    @writes, @reads, @values = %w[writes reads values].map do |name|
      File.readlines(File.join(data, "#{name}.txt"), chomp: true, encoding: "UTF-8")
    end
    @next_write = 0
    @next_read = 0
  end

  def describe
    {
      subject: @subject.name,
      bounded: @subject.bounded?,
      versions: @subject.versions.to_a,
      operations: @operations.keys.map { |name| { name: name, durability: @subject.durability } }
    }
  end

  def fill(passes:)
    passes.times { @subject.fill(next_writes(@writes.size)) }
    next_reads(SAMPLE).each do |key|
      next if @values.include?(@subject.value(key))

      raise "a key that was written does not have its value"
    end
    { turns: @subject.turns }
  end

  def run(operation:, count:)
    run = @operations.fetch(operation)
    batch = operation.start_with?(PUT) ? next_writes(count) : next_reads(count)
    start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    misses = run.call(batch)
    seconds = Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
    { seconds: seconds, misses: misses.is_a?(Integer) ? misses : 0 }
  end

  def close
    @subject.close
    {}
  end

  private

  def next_writes(count)
    first = @next_write
    @next_write += count
    Array.new(count) do |n|
      [@writes[(first + n) % @writes.size], @values[(first + n) % @values.size]]
    end
  end

  def next_reads(count)
    first = @next_read
    @next_read += count
    Array.new(count) { |n| @reads[(first + n) % @reads.size] }
  end
end
