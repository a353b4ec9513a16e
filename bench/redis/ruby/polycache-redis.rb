# frozen_string_literal: true

require "cache_subject"

# Our remote tier with a directory: what is read again comes from a copy that is kept coherent.
class Near < CacheSubject
  def name = "polycache-redis"
  def notes = ["JSON", "reads come from coherent copies"]
end

Subject.serve(Near)
