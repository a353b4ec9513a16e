# frozen_string_literal: true

# What `gem install` runs: writes the Makefile that compiles the extension with cargo. In a checkout
# `make build` does that.
#
# The extension may be absent: who uses Redis namespaces or MemoryCache needs no compiler. So where
# it cannot be had the Makefile does nothing, and polycache/extension.rb says what is missing to
# whoever needs it. Where there is a cargo that is new enough, a compile that fails is an error.

require "rbconfig"

# The oldest compiler that does (rust-version of the workspace).
RUST = [1, 85].freeze

def why_not
  return "POLYCACHE_WITHOUT_EXTENSION is set" if ENV.key?("POLYCACHE_WITHOUT_EXTENSION")
  return "the host tier runs on Linux only" unless RUBY_PLATFORM.include?("linux")
  return "this Ruby loads no C extensions" unless RUBY_ENGINE == "ruby"

  said = IO.popen(%w[cargo --version], err: File::NULL, &:read)
  version = said[/\d+\.\d+/] or return "`cargo --version` fails"
  return unless (version.split(".").map(&:to_i) <=> RUST).negative?

  "cargo is #{version}, older than #{RUST.join(".")}"
rescue SystemCallError
  "there is no cargo: install Rust (https://rustup.rs)"
end

if (reason = why_not)
  warn "polycache: WITHOUT THE NATIVE EXTENSION, because #{reason}. A Cache with a path raises " \
       "UnsupportedPlatform; MemoryCache, a Cache without a path and Redis namespaces work."
  File.write("Makefile", "all install clean:\n\t@:\n.PHONY: all install clean\n")
  exit
end

# Into the gem's lib, and nowhere else: RubyGems would keep a second copy of what it is given.
to = File.expand_path("../../lib/polycache/#{RUBY_VERSION[/\A\d+\.\d+/]}", __dir__)
# A folder that is shared keeps what is compiled for the next time.
target = ENV["CARGO_TARGET_DIR"] || "target"
File.write("Makefile", <<~MAKEFILE)
  all:
  \tRUBY="#{RbConfig.ruby}" cargo rustc --locked --release --lib --manifest-path "#{__dir__}/Cargo.toml" \\
  \t  --target-dir "#{target}" -- -C strip=symbols || { echo "polycache: the native extension did not \\
  \tcompile (it takes libclang too). To install without it: POLYCACHE_WITHOUT_EXTENSION=1" >&2; exit 1; }

  install: all
  \tmkdir -p "#{to}"
  \tcp "#{target}/release/libpolycache_ruby.#{RbConfig::CONFIG["SOEXT"]}" "#{to}/polycache.#{RbConfig::CONFIG["DLEXT"]}"
  \trm -rf target

  clean:
  \trm -rf target

  .PHONY: all install clean
MAKEFILE
