# frozen_string_literal: true

# What `gem install` runs: writes the Makefile that compiles the extension with cargo. In a checkout
# `make build` does that.

require "mkmf"

unless find_executable("cargo")
  abort "polycache is compiled with Rust: install it (https://rustup.rs) and try again"
end

built = "target/release/libpolycache_ruby.#{RbConfig::CONFIG["SOEXT"]}"
# DESTDIR and sitearchdir are RubyGems' to say.
File.write("Makefile", <<~MAKEFILE)
  sitearchdir = #{RbConfig::CONFIG["sitearchdir"]}
  folder = $(DESTDIR)$(sitearchdir)/polycache

  all:
  \tRUBY=#{RbConfig.ruby} cargo build --release --manifest-path #{__dir__}/Cargo.toml --target-dir target

  install: all
  \tmkdir -p $(folder)
  \tcp #{built} $(folder)/polycache.#{RbConfig::CONFIG["DLEXT"]}
  \trm -rf target

  clean:
  \trm -rf target

  .PHONY: all install clean
MAKEFILE
