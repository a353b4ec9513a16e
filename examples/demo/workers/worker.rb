# frozen_string_literal: true

# The Ruby worker of the demo: see README.md in the folder above for what it is asked.
#
# worker.rb CACHE_DIRECTORY LIMIT NAME [SERVER], in the folder that holds the records

require "digest"
require "json"
require "polycache"

# A value of each type, in this language's own types. Each worker has the same list.
SAMPLES = {
  "null" => nil,
  "bool" => true,
  "integer" => -42,
  "64 bits" => 18_446_744_073_709_551_615,
  "big integer" => 2**100,
  "float" => 0.1,
  "text" => "Zoë 🦊",
  "bytes" => "\x00\xFF\xC1".b,
  "list" => [1, "two", [nil, false]],
  "map" => { "constructor" => 1, "nested" => { "" => "empty key" } },
  "set" => Set[1, 2, 3],
  "timestamp" => Time.utc(2026, 2, 3, 4, 5, 6.789r),
  "decimal" => BigDecimal("-1234.5678"),
  "uuid" => Polycache::UUID.new("018bcfe5-6800-7abc-8def-0123456789ab")
}.freeze

# What a package is and all that it needs, directly or not. There is no index of the raw file.
module Package
  module_function

  def load(name)
    database = File.binread("records.txt")
    found = Hash.new { |known, package| known[package] = find(database, package) }

    needs = [name]
    size = 0
    digest = Digest::SHA256.new
    needs.each do |package| # grows while it is walked
      digest << found[package]
      fields = parse(found[package])
      size += 1024 * Integer(fields.fetch("Installed-Size", "0"), 10)
      dependencies(fields).each do |choices|
        first = choices.find { |choice| found[choice] }
        needs << first if first && !needs.include?(first)
      end
    end
    fields = parse(found[name])
    summary, _, description = fields.fetch("Description", "").partition("\n")
    {
      "name" => name, "summary" => summary, "description" => description, "needs" => needs,
      "size" => size, "sha256" => digest.hexdigest, "fields" => fields.except("Description")
    }
  end

  def find(database, package)
    at = database.index("\nPackage: #{package}\n".b)
    database[at + 1...database.index("\n\n", at + 1)].force_encoding(Encoding::UTF_8) if at
  end

  def parse(record)
    fields = {}
    name = nil
    record.each_line("\n", chomp: true) do |line|
      if line.start_with?(" ")
        fields[name] = "#{fields[name]}\n#{line[1..]}"
      else
        name, value = line.split(":", 2)
        fields[name] = value.gsub(/\A +| +\z/, "")
      end
    end
    fields
  end

  # `a (>= 1), b:any | c` is a, and b or c.
  def dependencies(fields)
    wanted = "#{fields["Pre-Depends"]},#{fields["Depends"]}"
    wanted.split(",").map do |part|
      part.split("|").map { |choice| choice.strip[/\A[^ :]*/] }
    end
  end
end

class Worker
  def initialize(directory, limit, name, server = nil)
    @name = name
    @keys = JSON.parse(File.read("#{name}.keys.json"))
    @log = File.open("loads.log", File::WRONLY | File::APPEND)
    options = { path: directory, namespace: "demo", limit: Integer(limit) }
    # The same code on several hosts. A machine that is busy with the demo is no fault.
    options.update(remote: server, timeout: "5s") if server
    cache = @cache = Polycache::Cache.new(**options)
    @packages = cache.namespace("packages")
    @matrix = cache.namespace("matrix")
    @changes = cache.namespace("changes")
    @loaded = 0
  end

  # Asks for every record, and loads those that are not loaded yet.
  def ask
    waits = []
    @keys.each_with_index do |key, asked|
      say({ asked: }) if (asked % 8).zero?
      before = @loaded
      started = now
      package = @packages.fetch(key) { noted_load(key) }
      raise "asked for #{key}, got #{package["name"]}" unless package["name"] == key

      # A hit takes microseconds; the shortest sleep of a waiting caller is 0.1 ms.
      waited = (now - started) / 1e6
      waits << waited if before == @loaded && waited >= 0.1
    end
    { loaded: @loaded, waited: waits.size, longest_wait_ms: waits.max || 0.0 }
  end

  def write
    SAMPLES.each { |name, value| @matrix.set("#{@name}:#{name}", value) }
    { written: SAMPLES.keys }
  end

  # inspect tells 1 and 1.0 apart, encodings text and bytes.
  def read(writer)
    read = SAMPLES.to_h { |name, _| [name, @matrix.get("#{writer}:#{name}", :missing)] }
    same = ->(one, other) { one.eql?(other) && one.inspect == other.inspect }
    equal, different = SAMPLES.keys.partition { |name| same.call(read[name], SAMPLES[name]) }
    { equal:, different: different.map { |name| "#{name}: #{read[name].inspect}" } }
  end

  def set(value)
    @changes.set("last writer", value)
    {}
  end

  def get = { value: @changes.get("last writer") }

  def tiers
    hits_here = @cache.stats[:memory_hits] + @cache.remote_stats[:near_hits]
    { hits_here:, **@cache.remote_stats.slice(:remote_hits, :listens) }
  end

  # Nanoseconds per hit over all records and per load over some; do both agree?
  def measure
    passes = Array.new(21) { nanoseconds_each(@keys) { |key| @packages.get(key) } }
    some = spread(@keys, 100)
    loaded = []
    load_ns = nanoseconds_each(some) { |key| loaded << Package.load(key) }
    different = loaded.reject { |package| package.eql?(@packages.get(package["name"])) }
    {
      hit_ns: passes.sort[passes.size / 2], load_ns:,
      same: some.size - different.size, different: different.map { |package| package["name"] }
    }
  end

  private

  def noted_load(key)
    @loaded += 1
    note("begin", key)
    Package.load(key).tap { note("end", key) }
  end

  def note(event, key) = @log.syswrite("#{event} ruby #{Process.pid} #{key}\n")

  def spread(keys, most) = keys.each_slice([1, keys.size / most].max).map(&:first).first(most)

  def nanoseconds_each(keys, &)
    started = now
    keys.each(&)
    (now - started).fdiv(keys.size)
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
end

def say(answer)
  $stdout.puts(JSON.generate(answer))
  $stdout.flush
end

worker = Worker.new(*ARGV)
say({ ready: true })
$stdin.each_line do |line|
  command, *arguments = line.split
  say(worker.public_send(command, *arguments))
end
