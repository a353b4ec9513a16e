# frozen_string_literal: true

# A Struct and a class in the cache, for every language that registers their names.

require "polycache"

class Status
  attr_reader :text

  def initialize(text) = @text = text
  def ==(other) = other.is_a?(Status) && text == other.text

  ACTIVE = new("active")
end

User = Struct.new(:id, :name, :status, :tags)

types = {
  "user" => User,
  "status" => Polycache::Type.new(Status, encode: ->(status) { status.text },
                                          decode: ->(text) { Status.new(text) })
}
cache = Polycache::Cache.new(path: ".cache", namespace: %w[examples types], types:)
ada = User.new(1, "Ada Lovelace", Status::ACTIVE, ["admin"])
cache.set("ada", ada)
read = cache.get("ada")
p read
raise unless read == ada && !read.equal?(ada)

# Any of the examples, in any language, may have written it.
shared = cache.get_or_set("shared") { User.new(2, "Grace Hopper", Status::ACTIVE, []) }
p shared
raise unless shared.is_a?(User) && shared.name == "Grace Hopper"
