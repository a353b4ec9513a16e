# frozen_string_literal: true

# The clients that tools/setup.sh clients unpacked, where they are not installed as gems.
tools = ENV.fetch("POLYCACHE_TOOLS") { File.expand_path("../../../../target/tools", __dir__) }
unpacked = File.join(tools, "debian/trixie/usr")
$LOAD_PATH.unshift(
  *Dir["#{unpacked}/share/rubygems-integration/all/gems/*/lib{,/concurrent-ruby}"],
  "#{unpacked}/lib/ruby/vendor_ruby"
)
