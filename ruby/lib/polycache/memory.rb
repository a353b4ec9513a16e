# frozen_string_literal: true

# Polycache::MemoryCache alone. It works without the native extension.

require_relative "version"
require_relative "errors"
require_relative "memory_cache"
