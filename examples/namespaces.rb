# frozen_string_literal: true

# Namespaces keep keys apart, nest, and are cleared in one step, however much they hold.

require "polycache"

Polycache::Cache.open(path: ".cache", namespace: %w[examples namespaces.rb]) do |shop|
  shop.clear
  users = shop.namespace("users")
  archive = users.namespace("archive")
  neighbours = shop.namespace("usersAbc")

  [shop, users, archive, neighbours].each { |cache| cache.set("1", "here") }
  users.set_many({ "name:ada" => "Ada", "name:alan" => "Alan", "age:ada" => 36 })
  p users.keys("name:").sort
  raise unless users.get_many(%w[name:ada name:eve]) == { "name:ada" => "Ada" }

  # What is nested goes with it; neighbours and parents stay.
  users.clear
  left = [shop, users, archive, neighbours].map { |cache| cache.exist?("1") }
  p left
  raise unless left == [true, false, false, true]
end
