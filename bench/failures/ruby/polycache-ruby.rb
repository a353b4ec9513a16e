# frozen_string_literal: true

require "polycache"
require "failing_subject"

# Ours.
class Ours < FailingSubject
  def connect(url, directory)
    @cache = Polycache::Cache.new(path: directory, remote: url)
  end

  def get(key) = @cache.get(key)
  def set(key, value) = @cache.set(key, value)
  def load(key) = @cache.get_or_set(key) { "loaded" }
end

Ours.new.serve
