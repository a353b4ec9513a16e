# frozen_string_literal: true

require "test_helper"
require_relative "support/fiber_scheduler"

# Under a Fiber scheduler a waiting fiber does not hold up the others of its thread.
class SchedulerTest < Minitest::Test
  include Caches

  def test_fibers_of_one_thread_share_one_load
    cache = open_cache
    events = []
    Thread.new do
      Fiber.set_scheduler(FiberScheduler.new)
      Fiber.schedule do
        events << cache.fetch("k") do
          events << "loading"
          sleep(0.001) until events.include?("others run")
          "value"
        end
      end
      Fiber.schedule { events << cache.fetch("k") { flunk } }
      Fiber.schedule { events << "others run" }
    end.join

    assert_equal ["loading", "others run", "value", "value"], events
  end
end
