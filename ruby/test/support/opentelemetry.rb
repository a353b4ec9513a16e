# frozen_string_literal: true

# The SDK of OpenTelemetry for metrics: with POLYCACHE_OPENTELEMETRY=sdk the real one, from the
# folder where tools/setup/opentelemetry.sh puts its gems; else a stand-in.
module OpenTelemetrySDK
  TOOLS = ENV.fetch("POLYCACHE_TOOLS") { File.expand_path("../../../target/tools", __dir__) }
  IS_REAL = ENV["POLYCACHE_OPENTELEMETRY"] == "sdk"
  FOLDERS =
    if IS_REAL
      Dir[File.join(TOOLS, "opentelemetry", "gems", "*", "lib")]
    else
      [File.expand_path("opentelemetry_stand_in", __dir__)]
    end
  # What a program of its own begins with.
  PRELUDE = <<~RUBY.freeze
    $LOAD_PATH.concat(#{FOLDERS.inspect})
    require "opentelemetry-metrics-#{IS_REAL ? "sdk" : "api"}"
  RUBY
end

$LOAD_PATH.concat(OpenTelemetrySDK::FOLDERS)
require "opentelemetry-metrics-#{OpenTelemetrySDK::IS_REAL ? "sdk" : "api"}"
