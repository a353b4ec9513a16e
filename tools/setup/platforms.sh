# What `make check-platforms` type-checks for other platforms with: a compiler beside the standard
# library's source (Debian's, unpacked), and one C compiler for all targets. Only what asks for them by
# name gets them.

# Debian's Rust for the web browsers that it builds: newer than the release's own.
RUST_WEB="rustc-web libstd-rust-web-1.96 libstd-rust-web-dev rust-web-src libllvm22"

need_platforms() {
  # shellcheck disable=SC2086
  debian_packages bookworm debian/rust-web $RUST_WEB || return
  local rust=$TOOLS/debian/rust-web/usr
  # A program of its own, so that cargo finds the libraries and the sysroot whoever starts it.
  cat >"$TOOLS/bin/rustc-web" <<WRAPPER
#!/bin/sh
here=\$(cd "\$(dirname "\$0")/../debian/rust-web/usr" && pwd)
LD_LIBRARY_PATH="\$here/lib/x86_64-linux-gnu:\$here/lib" exec "\$here/bin/rustc-web" --sysroot "\$here" "\$@"
WRAPPER
  chmod +x "$TOOLS/bin/rustc-web"
  need_zig
}
