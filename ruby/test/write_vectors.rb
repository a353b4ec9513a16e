# frozen_string_literal: true

# Writes spec/vectors/entries.ruby.json: ruby -Iruby/lib ruby/test/write_vectors.rb
# With the argument "encrypted" it writes encrypted.ruby.json instead.

require "json"
require "polycache"

require_relative "support/tagged"
require_relative "support/vectors"

if ARGV == ["encrypted"]
  File.write(Vectors::OWN_ENCRYPTED, Vectors.own_encrypted_text)
else
  File.write(Vectors::OWN, Vectors.own_text)
end
