# frozen_string_literal: true

require "rbconfig"

require_relative "errors"

module Polycache
  # Loads the native extension, Polycache::Native, and knows why it is missing. The host tier (a
  # Cache with a path) and the command need it; memory and Redis namespaces do not.
  module Extension
    # A gem keeps it in a folder for the Ruby that it was compiled for, as usual for compiled gems;
    # a checkout keeps it beside this file (`make build`).
    FILES = ["#{RUBY_VERSION[/\A\d+\.\d+/]}/polycache", "polycache"].freeze
    private_constant :FILES

    module_function

    # @return [String, nil] why the extension is missing; nil when it is there
    def load
      file = FILES.map { |name| "#{__dir__}/#{name}.#{RbConfig::CONFIG["DLEXT"]}" }
                  .find { |name| File.exist?(name) }
      return "it was not compiled when the gem was installed" unless file

      require file
      outlive_file_limits
      nil
    rescue LoadError => e
      e.message
    end

    # A write past `ulimit -f` sends SIGXFSZ, which by default ends the process before it could say
    # what happened. Python and Node ignore it. A handler that does nothing has the same effect, but
    # is not inherited by the programs that this process starts. A user's own handler stays.
    def outlive_file_limits
      return unless Signal.list.key?("XFSZ")

      before = Signal.trap("XFSZ") {} # rubocop:disable Lint/EmptyBlock
      Signal.trap("XFSZ", before) unless %w[DEFAULT SYSTEM_DEFAULT].include?(before)
    end

    # @return [nil]
    # @raise [UnsupportedPlatform] when the extension is missing, with what to do
    def needed_for(what)
      return unless MISSING

      raise UnsupportedPlatform, "#{what} needs the native extension, and #{MISSING}. #{remedy}"
    end

    def remedy
      unless RUBY_PLATFORM.include?("linux")
        return "There is none for #{RUBY_PLATFORM}: Polycache::MemoryCache, a Cache without a " \
               "path and Redis namespaces work here"
      end

      "Install Rust 1.85 or newer (https://rustup.rs) and libclang, then compile the gem: " \
        "`gem install polycache --platform ruby` (in a checkout, `make build`). " \
        "Without it there are Polycache::MemoryCache, a Cache without a path and Redis namespaces"
    end

    private_class_method :outlive_file_limits, :remedy

    # @return [String, nil] what +load+ said
    MISSING = load
  end
end
