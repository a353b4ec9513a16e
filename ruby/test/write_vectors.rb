# frozen_string_literal: true

# Writes spec/vectors/entries.ruby.json: ruby -Iruby/lib ruby/test/write_vectors.rb

require "json"
require "polycache"

require_relative "support/tagged"
require_relative "support/vectors"

File.write(Vectors::OWN, Vectors.own_text)
