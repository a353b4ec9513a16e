# OpenTelemetry's SDK for metrics in Ruby, which no Debian release has: gems, in a folder of their own. Ruby 3.1
# can't use a newer version.

OPENTELEMETRY_VERSION=0.12.0

need_opentelemetry() {
  need_ruby || return
  local folder=$TOOLS/opentelemetry gem=opentelemetry-metrics-sdk
  [ -d "$folder/gems/$gem-$OPENTELEMETRY_VERSION" ] && return 0
  say "gem install $gem -v $OPENTELEMETRY_VERSION (what reads the metrics in the tests of Ruby)"
  rm -rf "$folder"
  if ! gem install --quiet --silent --no-document --install-dir "$folder" "$gem" \
    --version "$OPENTELEMETRY_VERSION" >"$TOOLS/gem.log" 2>&1; then
    tail -n 5 "$TOOLS/gem.log" >&2
    say "missing: gem could not install $gem" >&2
    return "$MISSING"
  fi
}
