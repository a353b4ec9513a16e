# frozen_string_literal: true

# A Rack app by Puma, our cached reads over redis-rb.

require_relative "../ruby/lib/reads"
require_relative "../ruby/lib/ready"

read = cached_reader
app = Polycache::HTTP::Endpoint.new { answer_around(read) }

serve(app, reads: CHANGE,
           notes: ["cached reads: encoded once for each change; at most one second behind"])
