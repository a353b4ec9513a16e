# frozen_string_literal: true

require_relative "lib/polycache/version"

# Built by package.sh, which puts the crates that the extension is made of beside it.
Gem::Specification.new do |spec|
  spec.name = "polycache"
  spec.version = Polycache::VERSION
  spec.authors = ["The Polycache contributors"]
  spec.summary = "One cache shared by Ruby, Python, TypeScript and Rust processes, without a server"
  spec.description = <<~TEXT
    A cache in memory-mapped files that every process of a machine shares, in whatever language it
    is written: a hit costs less than a microsecond, one caller loads for all, and a write is seen
    by every read that begins after it.
  TEXT
  spec.licenses = %w[MIT Apache-2.0]
  spec.required_ruby_version = ">= 3.1"
  spec.metadata["rubygems_mfa_required"] = "true"

  spec.files = Dir[
    "lib/**/*.{rb,json}", "sig/**/*.rbs", "ext/**/*.{rs,rb,toml}", "crates/**/*.{rs,toml}",
    "Cargo.{toml,lock}", "README.md", "LICENSE-*"
  ]
  spec.require_paths = ["lib"]
  spec.extensions = ["ext/polycache/extconf.rb"]
  # Part of Ruby until 3.3.
  spec.add_dependency "bigdecimal", ">= 3.1", "< 5"
end
