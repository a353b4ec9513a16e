# frozen_string_literal: true

# A Rack app by Puma, the same bytes from memory.

require_relative "../ruby/lib/constant"
require_relative "../ruby/lib/ready"

bytes = constant_bytes
app = ->(_env) { [200, JSON_HEADERS.dup, [bytes]] }

serve(app, reads: NEVER)
