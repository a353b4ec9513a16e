# frozen_string_literal: true

# A constant answer in memory: the server's limit.

require "json"
require_relative "redisrb"

# The bytes of an answer and its times.
def constant_bytes = JSON.generate(answer(&reader)).freeze
