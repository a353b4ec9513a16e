# frozen_string_literal: true

# The native extension, which a memory cache is quicker with and does without where it was not
# built, or not for this Ruby.
begin
  require_relative "../polycache"
rescue LoadError
  nil
end
