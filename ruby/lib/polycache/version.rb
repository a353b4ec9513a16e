# frozen_string_literal: true

module Polycache
  # The same in the packages of every language.
  VERSION = "0.1.0"
end
