# frozen_string_literal: true

require "cache_subject"

# Our remote tier without copies: each read asks the server, as each read of a client does.
class Through < CacheSubject
  def name = "polycache-redis-through"
  def notes = ["JSON", "max_staleness: 0, each read asks the server"]
  def options = { max_staleness: 0 }
end

Subject.serve(Through)
