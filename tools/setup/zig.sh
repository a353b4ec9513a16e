# Zig, for `make package`: a C compiler and linker that knows every version of glibc, so that packages
# run on systems older than the one that they are built on. Only what asks for it by name gets it.

ZIG_VERSION=0.17.1
ZIGBUILD_VERSION=0.24.0

need_zig() {
  local zig=$TOOLS/zig wanted="ziglang==$ZIG_VERSION cargo-zigbuild==$ZIGBUILD_VERSION"
  [ "$(cat "$zig/installed" 2>/dev/null)" = "$wanted" ] && return 0
  need_python || return
  say "pip install $wanted (packages that run with older versions of glibc)"
  [ -x "$zig/bin/python" ] || "$TOOLS/venv/bin/python" -m venv "$zig"
  # shellcheck disable=SC2086
  if ! "$zig/bin/python" -m pip install --quiet --disable-pip-version-check $wanted; then
    say "missing: pip could not install $wanted" >&2
    return "$MISSING"
  fi
  echo "$wanted" >"$zig/installed"
}
