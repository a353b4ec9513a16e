# frozen_string_literal: true

require "json"
require "polycache"
require "timeout"
require "tmpdir"

require_relative "support/caches"
require_relative "support/children"
require_relative "support/manual_clock"
require_relative "support/minitest_alone"
require_relative "support/tagged"
require_relative "support/vectors"

# A program that hangs is broken; nothing that works comes near this.
module TimeLimit
  def run(...)
    Timeout.timeout(60) { super }
  end
end
Minitest::Test.prepend(TimeLimit)
