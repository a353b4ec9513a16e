# frozen_string_literal: true

require_relative "helper"
require "sidekiq"
require "sidekiq/api"
require "sidekiq/fetch"
require "sidekiq/job"

# Sidekiq 7, which itself has no namespaces any more, with the middleware.
class SidekiqTest < Minitest::Test
  include Namespaced

  class Work
    include Sidekiq::Job

    def perform(*); end
  end

  def setup
    super
    Sidekiq.default_configuration.redis = {
      url: "redis://127.0.0.1:#{port}/0",
      middlewares: [Polycache::RedisNamespace],
      custom: { namespace: "app" }
    }
  end

  def test_jobs_are_pushed_and_found_inside
    Work.perform_async(1)
    Work.perform_in(60, 2)

    assert_equal %w[app:queue:default app:queues app:schedule], everything
    assert_equal [1], Sidekiq::Queue.new.map(&:args).first
    assert_equal 1, Sidekiq::ScheduledSet.new.size
    assert_equal({ "default" => 1 }, Sidekiq::Stats.new.queues)
  end

  def test_a_job_is_fetched
    Work.perform_async(1)
    config = Sidekiq.default_configuration
    work = Sidekiq::BasicFetch.new(config.default_capsule).retrieve_work

    assert_equal "queue:default", work.queue
    assert_equal [1], JSON.parse(work.job)["args"]
  end

  def test_the_scheduler_runs_its_script
    require "sidekiq/scheduled"
    Sidekiq.redis do |redis|
      redis.zadd("schedule", 1,
                 Sidekiq.dump_json("class" => Work.name, "args" => [7], "queue" => "default"))
    end
    Sidekiq::Scheduled::Enq.new(Sidekiq.default_configuration).enqueue_jobs

    assert_equal [[7]], Sidekiq::Queue.new.map(&:args)
    assert(everything.all? { |key| key.start_with?("app:") })
  end

  def test_a_flush_leaves_what_others_have
    bare.call("SET", "other", 1)
    Work.perform_async(1)
    Sidekiq.redis(&:flushdb)

    assert_equal ["other"], everything
  end
end
