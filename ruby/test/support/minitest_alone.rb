# frozen_string_literal: true

# Minitest without the plugins of this machine's gems. That of railties loads ActiveSupport in its
# own version, and tells of failures in another way than make test reads.
ENV["MT_NO_PLUGINS"] = "1"
require "minitest/autorun"
