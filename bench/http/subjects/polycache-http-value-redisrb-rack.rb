# frozen_string_literal: true

# A Rack app by Puma, our cached reads over redis-rb, the value alone.

require_relative "../ruby/lib/reads"
require_relative "../ruby/lib/ready"

read = cached_reader
app = Polycache::HTTP::Endpoint.new { read.call }

serve(app, reads: CHANGE,
           notes: ["cached reads: encoded once for each change; at most one second behind"])
