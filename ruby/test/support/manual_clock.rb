# frozen_string_literal: true

# A clock that a test moves.
class ManualClock
  attr_accessor :now

  def initialize(now = 1_700_000_000_000)
    @now = now
  end

  def advance(milliseconds) = @now += milliseconds

  def call = @now
end
