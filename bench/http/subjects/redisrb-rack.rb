# frozen_string_literal: true

# A Rack app by Puma, redis-rb.

require_relative "../ruby/lib/ready"
require_relative "../ruby/lib/redisrb"

read = reader
app = ->(_env) { [200, JSON_HEADERS.dup, [JSON.generate(answer(&read))]] }

serve(app, reads: EACH)
