# cargo-fuzz, and the nightly compiler with the sanitizers it needs. Installed only when asked for by name.

CARGO_FUZZ_VERSION=0.13.2

need_fuzz() {
  need_python || return
  if ! cargo +nightly --version >/dev/null 2>&1; then
    say "rustup toolchain install nightly (fuzzing)"
    if ! rustup toolchain install nightly --profile minimal >"$TOOLS/rustup.log" 2>&1; then
      say "missing: a nightly Rust compiler; please run: rustup toolchain install nightly" >&2
      return "$MISSING"
    fi
  fi
  pip_cargo_tool fuzz "$CARGO_FUZZ_VERSION" "fuzzing of the decoders"
}
