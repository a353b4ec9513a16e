# frozen_string_literal: true

# Built by package.rb, which puts the crates that the extension is made of beside it.
Gem::Specification.new do |spec|
  spec.name = "polycache"
  spec.version = File.read("#{__dir__}/lib/polycache/version.rb")[/VERSION = "(.+)"/, 1]
  spec.authors = ["The Polycache contributors"]
  spec.summary = "One cache shared by Ruby, Python, TypeScript and Rust processes, without a server"
  spec.description = <<~TEXT
    A cache in memory-mapped files that every process of a machine shares, in whatever language it
    is written: a hit costs less than a microsecond, one caller loads for all, and a write is seen
    by every read that begins after it. Also a cache in memory, and namespaces for Redis clients.
  TEXT
  spec.licenses = %w[MIT Apache-2.0]
  spec.required_ruby_version = ">= 3.1"
  spec.metadata["rubygems_mfa_required"] = "true"

  # What package.rb has put here is what belongs here.
  spec.files = Dir["**/*"].select { |name| File.file?(name) } - ["polycache.gemspec"]
  spec.require_paths = ["lib"]
  spec.bindir = "exe"
  spec.executables = ["polycache"]
  spec.extensions = ["ext/polycache/Rakefile"]
  # RubyGems shows nothing of an installation that succeeds: what it left out has to be said here.
  spec.post_install_message = <<~TEXT
    polycache: `polycache --version` tells whether the native extension was compiled, which takes Linux,
    Rust 1.85 and libclang. Polycache::MemoryCache and Redis namespaces do without it.
  TEXT
  # Runs the Rakefile. It comes with Ruby, but some distributions leave it out.
  spec.add_dependency "rake", ">= 13"
  # Part of Ruby until 3.3.
  spec.add_dependency "bigdecimal", ">= 3.1", "< 5"
end
