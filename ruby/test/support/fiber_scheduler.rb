# frozen_string_literal: true

# The least that Ruby takes for a Fiber scheduler: it can sleep, and wait for another fiber.
class FiberScheduler
  def initialize
    @waiting = {}
    @unblocked = Thread::Queue.new
  end

  def kernel_sleep(seconds = nil)
    @waiting[Fiber.current] = now + seconds.to_f
    Fiber.yield
  end

  # The end of the thread: runs what waits.
  def close
    until @waiting.empty?
      @waiting[@unblocked.pop] = now until @unblocked.empty?
      ready = @waiting.select { |_, at| at <= now }.keys
      ready.each do |fiber|
        @waiting.delete(fiber)
        fiber.resume
      end
      Thread.pass if ready.empty?
    end
  end

  def fiber(&block) = Fiber.new(blocking: false, &block).tap(&:resume)

  # A fiber that waits for a lock or a condition, at most so many seconds.
  def block(_blocker, seconds = nil)
    @waiting[Fiber.current] = seconds ? now + seconds : Float::INFINITY
    Fiber.yield
  end

  # Called from any thread.
  def unblock(_blocker, fiber) = @unblocked << fiber
  def io_wait(*) = raise("no test waits for input or output")

  private

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end
