# The oldest Rust that the crates promise to compile with (`rust-version` in Cargo.toml), as
# $TOOLS/bin/rustc-msrv: rustup's, or else Debian's package of that very version.

. "$here/setup/debian.sh"

# Debian 12's Rust for building browsers with is 1.85; its libraries beside it.
MSRV=1.85
MSRV_DEBIAN="rustc-web libstd-rust-web-1.85 libstd-rust-web-dev libllvm19"

need_msrv() {
  [ -x "$TOOLS/bin/rustc-msrv" ] && "$TOOLS/bin/rustc-msrv" --version 2>/dev/null | grep -q "^rustc $MSRV\." && return 0
  local program
  if have rustup && program=$(msrv_of_rustup); then
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$program" >"$TOOLS/bin/rustc-msrv"
  elif [ "$(uname -sm)" = "Linux x86_64" ]; then
    # shellcheck disable=SC2086
    debian_packages bookworm debian/rust-msrv $MSRV_DEBIAN || return
    cat >"$TOOLS/bin/rustc-msrv" <<'PROGRAM'
#!/bin/sh
root=$(cd "$(dirname "$0")/../debian/rust-msrv/usr" && pwd -P)
export LD_LIBRARY_PATH="$root/lib/x86_64-linux-gnu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$root/bin/rustc" --sysroot "$root" "$@"
PROGRAM
  else
    say "missing: Rust $MSRV. Please run: rustup toolchain install $MSRV --profile minimal" >&2
    return "$MISSING"
  fi
  chmod +x "$TOOLS/bin/rustc-msrv"
  "$TOOLS/bin/rustc-msrv" --version >/dev/null
}

msrv_of_rustup() {
  if ! rustup run "$MSRV" rustc --version >/dev/null 2>&1; then
    say "rustup toolchain install $MSRV" >&2
    rustup toolchain install "$MSRV" --profile minimal --no-self-update >/dev/null 2>&1 || return
  fi
  rustup which --toolchain "$MSRV" rustc
}
