# frozen_string_literal: true

require "test_helper"
require "support/killed_loads"

# Callers that are killed while they load over a directory.
class KilledLoadsTest < Minitest::Test
  include Caches
  include KilledLoads

  LEASES = ->(cache) { cache.check[:leases] }

  def test_who_is_killed_at_any_step_keeps_nobody_waiting
    keeps_nobody_waiting(open_cache)
  end

  def test_with_a_tier_too
    keeps_nobody_waiting(open_cache(memory: true))
  end

  private

  def keeps_nobody_waiting(cache)
    assert_nobody_waits_for_who_is_killed(LEASES, 5) do
      cache.delete_many(%w[k other])
      cache
    end
  end
end
