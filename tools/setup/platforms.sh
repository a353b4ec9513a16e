# What `make check-platforms` type-checks for other systems with: a Rust compiler with the source of the
# standard library, and a C compiler for every target. Only what asks for them by name gets them.

. "$here/setup/debian.sh"

# Debian's Rust for building browsers with; newer than its release's own.
RUST_WEB="rustc-web libstd-rust-web-1.96 libstd-rust-web-dev rust-web-src libllvm22"

need_platforms() {
  need_zig || return
  if [ "$(uname -sm)" != "Linux x86_64" ]; then
    say "missing: Debian's rustc-web, which is unpacked for x86-64 only" >&2
    return "$MISSING"
  fi
  # shellcheck disable=SC2086
  debian_packages bookworm-security debian/rust-web $RUST_WEB || return
  platforms_program rustc-web <<'PROGRAM'
# Without a `..`, by which cargo would not know the source's workspace again.
root=$(cd "$bin/../debian/rust-web/usr" && pwd -P)
export LD_LIBRARY_PATH="$root/lib/x86_64-linux-gnu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$root/bin/rustc" --sysroot "$root" "$@"
PROGRAM
  platforms_zig zig-ar ar
  # The same with the options of Visual C++'s lib.exe.
  platforms_zig zig-lib lib
  # What rustc makes import libraries of Windows' own DLLs with, under the name that it looks for.
  platforms_zig x86_64-w64-mingw32-dlltool dlltool
  # A program a target: cargo takes a C compiler without arguments.
  local target
  for target in aarch64-macos x86_64-macos x86_64-windows-gnu; do
    platforms_zig "zig-cc-$target" cc -target "$target"
  done
}

# platforms_zig NAME ARGUMENT...: zig with these arguments, as a program.
platforms_zig() {
  local name=$1
  shift
  platforms_program "$name" <<PROGRAM
exec "\$bin/../zig/bin/python" -m ziglang $* "\$@"
PROGRAM
}

# platforms_program NAME: a script of that name in $TOOLS/bin, with $bin set.
platforms_program() {
  {
    echo '#!/bin/sh'
    echo 'bin=$(cd "$(dirname "$0")" && pwd)'
    cat
  } >"$TOOLS/bin/$1"
  chmod +x "$TOOLS/bin/$1"
}
