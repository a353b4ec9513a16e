# frozen_string_literal: true

# The least that Ruby takes for a Fiber scheduler: it can sleep.
class FiberScheduler
  def initialize
    @waiting = {}
  end

  def kernel_sleep(seconds = nil)
    @waiting[Fiber.current] = now + seconds.to_f
    Fiber.yield
  end

  # The end of the thread: runs what waits.
  def close
    until @waiting.empty?
      ready = @waiting.select { |_, at| at <= now }.keys
      ready.each do |fiber|
        @waiting.delete(fiber)
        fiber.resume
      end
      Thread.pass if ready.empty?
    end
  end

  def fiber(&block) = Fiber.new(blocking: false, &block).tap(&:resume)
  def block(*) = raise(NotImplementedError)
  def unblock(*) = raise(NotImplementedError)
  def io_wait(*) = raise(NotImplementedError)

  private

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end
