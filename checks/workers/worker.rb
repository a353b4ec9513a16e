# frozen_string_literal: true

# The Ruby worker of `make check-coherence`, `make torture` and `make check-remote`; see
# ../README.md.

require "polycache"
require_relative "reached"

READ, SET, SET_DONE, DELETE, DELETE_DONE, LOAD, LOAD_DONE, FOREIGN, FINISHED = (1..9).to_a
CLEAR = 11
CLEAR_DONE = 12
MALFORMED = 13

# The namespaces that the keys are spread over, in the order of src/namespaces.rs.
NAMESPACES = [[], ["a"], %w[a b], ["c"]].freeze

# begin, end, counter and worker of the value, operation, key.
RECORD = "Q<Q<L<L<CCx6"
BUFFERED = 128 * 32

# Of 100 operations: where sets begin after gets, then deletes, then loads.
OF_A_HOST = [70, 90, 95].freeze
# A write is a round trip, and makes a read of each host one.
OF_A_SERVER = [85, 95, 97].freeze

# Over a server, so many keys are in the middle of things. As many others get so many of 100
# operations, nine of ten of them reads, and all together so many.
HOT = 16
WARM = 12
COLD = 3
# And so many are written by both hosts.
SHARED = 8

# Seconds after a write that the server did not answer.
BREATH = 0.005

MISSING = Polycache::Cache::MISSING

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

class Log
  def initialize(path)
    @file = File.open(path, File::WRONLY | File::CREAT | File::APPEND)
    @file.binmode
    @reads = String.new(encoding: Encoding::BINARY)
  end

  def buffered(operation, key, counter, worker, from, till)
    @reads << [from, till, counter, worker, operation, key].pack(RECORD)
    flush if @reads.bytesize >= BUFFERED
  end

  def now(operation, key, counter, worker, from, till)
    @file.syswrite([from, till, counter, worker, operation, key].pack(RECORD))
  end

  def flush
    @file.syswrite(@reads)
    @reads.clear
  end
end

class Worker
  def initialize(cache, log, number, keys:, seed:, operations_a_clear:, remote:)
    @namespaces = NAMESPACES.map { |parts| parts.reduce(cache, :namespace) }
    @log = log
    @number = number
    @counter = 0
    @names = Array.new(keys) { |key| "hot-#{key}" }
    @random = Random.new(seed)
    @operations_a_clear = operations_a_clear
    @remote = remote
  end

  # Over a server a read counts that has found a value, and work goes on while the file +go_on+ is
  # there, with +pace+ microseconds of sleep after each operation.
  def work(reads, go_on = nil, pace = 0)
    operations = 0
    goes_on = true
    while reads.positive? || goes_on
      goes_on = go_on && File.exist?(go_on) if (operations % 256).zero?
      operations += 1
      sleep(pace / 1e6) if pace.positive?
      reads -= 1 if operate
    end
    @log.flush
    stats = @namespaces[0].remote_stats
    near = @namespaces[0].stats.fetch(:memory_hits) + (stats ? stats[:near_hits] : 0)
    @log.now(FINISHED, 0, stats ? stats[:remote_hits] : 0, 0, now, near)
  end

  private

  # Whether it was a read that counts.
  def operate
    clear(@random.rand(@namespaces.size)) if @random.rand(@operations_a_clear).zero?
    key = choose
    sets, deletes, loads = @remote ? OF_A_SERVER : OF_A_HOST
    return get(key) if only_reads?(key) || seldom_written?(key)

    case @random.rand(100)
    when 0...sets then get(key) || !@remote
    when sets...deletes then set(key)
    when deletes...loads then delete(key)
    else get_or_set(key) || !@remote
    end
  end

  # Whether a value was found.
  def get(key)
    from = now
    found = cache(key).get(@names[key], MISSING)
    till = now
    read(key, found, from, till)
  rescue Polycache::Error => e
    failed(key, e, from, now)
  end

  def read(key, found, from, till)
    if MISSING.equal?(found)
      @log.buffered(READ, key, 0, 0, from, till)
      return false
    end
    counter, worker = parse(@names[key], found)
    if counter
      @log.buffered(READ, key, counter, worker, from, till)
    else
      foreign(key, found, from, till)
    end
    !counter.nil?
  end

  def set(key)
    made = make(key)
    from = now
    @log.now(SET, key, @counter, @number, from, 0)
    cache(key).set(@names[key], made)
    @log.now(SET_DONE, key, @counter, @number, from, now)
    false
  rescue Polycache::RemoteUnavailable
    unacknowledged
  end

  def delete(key)
    from = now
    @log.now(DELETE, key, 0, 0, from, 0)
    cache(key).delete(@names[key])
    @log.now(DELETE_DONE, key, 0, 0, from, now)
    false
  rescue Polycache::RemoteUnavailable
    unacknowledged
  end

  def clear(namespace)
    from = now
    @log.now(CLEAR, namespace, 0, 0, from, 0)
    @namespaces[namespace].clear
    @log.now(CLEAR_DONE, namespace, 0, 0, from, now)
  rescue Polycache::RemoteUnavailable
    unacknowledged
  end

  def choose
    part = @random.rand(100)
    return @random.rand(@names.size) if !@remote || part < COLD

    @random.rand(HOT) + (part < COLD + WARM ? HOT : 0)
  end

  def seldom_written?(key)
    @remote && key.between?(HOT, (2 * HOT) - 1) && @random.rand(10).positive?
  end

  # Most keys are written by one host alone: what a host writes itself is never old there.
  def only_reads?(key) = @remote && key >= SHARED && key / 4 % 2 != @number % 2

  # A write that failed: it may happen later, or not.
  def unacknowledged
    sleep(BREATH)
    false
  end

  def cache(key) = @namespaces[key % @namespaces.size]

  # The loader takes up to 30 microseconds, so that others can set and delete meanwhile. Whether a
  # value was there.
  def get_or_set(key)
    made = make(key)
    pause = @random.rand(30_000)
    loaded = nil
    from = now
    found = cache(key).fetch(@names[key]) do
      loaded = now
      @log.now(LOAD, key, @counter, @number, loaded, 0)
      @log.buffered(READ, key, 0, 0, from, loaded)
      nil while now < loaded + pause
      made
    end
    till = now
    return read(key, found, from, till) unless loaded

    @log.now(LOAD_DONE, key, @counter, @number, loaded, till)
    false
  rescue Polycache::Error => e
    raise if loaded

    failed(key, e, from, now)
  end

  def make(key)
    @counter += 1
    value(@names[key], @number, @counter)
  end

  def value(key, worker, counter)
    name = "#{worker}.#{counter}"
    "#{key}:#{name}:#{name * (counter * 389 % (2**32) % 1000)}"
  end

  # Counter and worker of a value of this key, whole; nil for anything else.
  def parse(key, found)
    return unless found.is_a?(String)

    worker, counter = found.split(":", 3)[1]&.split(".")&.map(&:to_i)
    [counter, worker] if counter && found == value(key, worker, counter)
  end

  def failed(key, error, from, till)
    if @remote && error.is_a?(Polycache::MalformedEntry)
      @log.buffered(MALFORMED, key, 0, 0, from, till)
    else
      foreign(key, error, from, till)
    end
    false
  end

  def foreign(key, found, from, till)
    puts "#{@names[key]} gave, by a read begun at #{from}: #{found.inspect[0, 400]}"
    $stdout.flush
    @log.now(FOREIGN, key, 0, 0, from, till)
  end
end

directory, log, *words = ARGV
number, seed, reads, keys, lease_timeout, operations_a_clear = words.first(6).map(&:to_i)
remote, timeout, staleness, go_on, pace = words.drop(6)
options =
  if remote
    { remote: reached(remote), timeout: timeout.to_i / 1000r,
      max_staleness: staleness.to_i / 1000r }
  else
    # Over a directory Ruby has a memory tier only if the caller asks for one.
    { memory: { isolation: "freeze" } }
  end
cache = Polycache::Cache.new(path: directory, lease_timeout: lease_timeout / 1000r, **options)
remote = !remote.nil?
worker = Worker.new(cache, Log.new(log), number, keys:, seed:, operations_a_clear:, remote:)
worker.work(reads, go_on, pace.to_i)
