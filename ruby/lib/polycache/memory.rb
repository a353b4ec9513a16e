# frozen_string_literal: true

# Polycache::MemoryCache alone. It does without the native extension where that is not built.

require_relative "version"
require_relative "errors"
require_relative "memory_cache"
