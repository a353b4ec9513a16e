#!/usr/bin/env bash
# Builds the packages of every language for this platform into target/package, and publishes
# nothing. What is missing on this machine is left out, named, and written to the file `left-out`
# there, by which the tests of the packages tell it from what is broken.
#
#   tools/package.sh            as they are published
#   tools/package.sh --quick    for tests: with the native parts of `make build`, which are compiled
#                               already; they run where glibc is as new as on this machine
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
export POLYCACHE_TOOLS=${POLYCACHE_TOOLS:-$PWD/target/tools}
target=${CARGO_TARGET_DIR:-$PWD/target}
out=$PWD/target/package
rm -rf "$out"
mkdir -p "$out"
# Where cargo leaves a registry of its own beside the crates that it packs.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# can_package LANGUAGE NEED
can_package() {
  tools/setup.sh "$2" && return 0
  local code=$?
  [ $code = 3 ] || exit $code
  echo "package: no $2 here: the $1 package is left out" >&2
  echo "$1" >>"$out/left-out"
  return 1
}

# --no-verify: the crates depend on each other and are not published yet, so cargo could not
# build one alone. checks/packages does.
cargo package --no-verify --allow-dirty --quiet --target-dir "$work"
cp "$work"/package/*.crate "$out"

natives=()
if can_package typescript node; then natives+=(polycache-node); fi
if can_package python python; then python=yes; fi
if can_package ruby ruby; then natives+=(polycache-ruby); fi
profile=dist
[ "${1:-}" != --quick ] || profile=release

# With Zig as linker the native libraries run with glibc 2.28 and later (Debian 10, RHEL 8,
# Ubuntu 20.04), whatever this machine has; without, only where glibc is as new as here.
host=$(rustc -vV | sed -n 's/^host: //p')
built=$target/$profile
platform=()
compatible=()
if [[ $host == *-linux-gnu && $profile = dist ]]; then
  if tools/setup.sh zig; then
    platform=(--target "$host")
    built=$target/$host/$profile
    compatible=(--compatibility manylinux_2_28)
    variable=${host//-/_}
    export "CC_$variable=$PWD/tools/cc-for-packages"
    export "CARGO_TARGET_${variable^^}_LINKER=$PWD/tools/cc-for-packages"
  else
    echo "package: no Zig here: the packages run only where glibc is as new as on this machine" >&2
    echo zig >>"$out/left-out"
  fi
else
  echo zig >>"$out/left-out"
fi

# Once for all of them: they share most crates. The wheel's is built by maturin, from the same ones.
# A path that stays the same: pyo3 is compiled anew when it changes.
export PYO3_PYTHON=$POLYCACHE_TOOLS/venv/bin/python
if [ $profile = release ]; then
  tools/build.sh
elif ((${#natives[@]})); then
  cargo build --profile dist "${platform[@]}" "${natives[@]/#/--package=}"
fi

# native CRATE: the library that cargo made of it, stripped: by the profile `dist` of Cargo.toml, or here.
native() {
  local file
  for file in "$built/lib${1//-/_}".{so,dylib}; do
    [ -f "$file" ] || continue
    if [ $profile = release ]; then
      strip -o "$work/${file##*/}" "$file"
      file=$work/${file##*/}
    fi
    echo "$file"
    return
  done
  echo "package: cargo made no lib${1//-/_}" >&2
  exit 1
}

if [ -n "${python:-}" ] && [ $profile = release ]; then
  # Only what Python's is not shared with the others is compiled.
  maturin build --quiet --release --strip --manifest-path python/native/Cargo.toml --out "$out"
  maturin sdist --manifest-path python/native/Cargo.toml --out "$out"
elif [ -n "${python:-}" ]; then
  # The wheel is built from the source distribution, whose files all have one old date, and cargo takes
  # its crates for those of the last one. So what it made of ours goes, and is compiled again.
  rm -rf "$built"/.fingerprint/polycache*
  maturin build --quiet --profile dist "${platform[@]}" "${compatible[@]}" \
    --manifest-path python/native/Cargo.toml --sdist --out "$out"
fi
if [[ " ${natives[*]} " == *" polycache-ruby "* ]]; then
  ruby ruby/package.rb "$out" "$(native polycache-ruby)"
fi
if [[ " ${natives[*]} " == *" polycache-node "* ]]; then
  make --no-print-directory typescript-packages
  typescript/package.sh "$out" "$(native polycache-node)"
fi

(cd "$out" && ls -lhS)
