# What the other files of this folder share. Sourced by ../setup.sh; $TOOLS is set there.

# The exit code for "missing, and cannot be installed from here".
MISSING=3

say() { echo "setup: $*"; }

have() { command -v "$1" >/dev/null 2>&1; }

# apt_install WHY PACKAGE...: installs Debian packages, or says what a person has to install.
apt_install() {
  local why=$1
  shift
  local as_root=()
  if ! have apt-get; then
    say "missing: $why. There is no apt here; please install the equivalent of: $*" >&2
    return "$MISSING"
  fi
  if [ "$(id -u)" != 0 ]; then
    if have sudo && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
      as_root=(sudo)
    else
      say "missing: $why. That takes root; please run: sudo apt-get install $*" >&2
      return "$MISSING"
    fi
  fi
  say "apt-get install $* ($why)"
  export DEBIAN_FRONTEND=noninteractive
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq
    -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300)
  # Stale package lists are the usual reason for a failed install: refresh them once and retry.
  "${apt[@]}" install -y --no-install-recommends "$@" >"$TOOLS/apt.log" 2>&1 && return 0
  "${apt[@]}" update >>"$TOOLS/apt.log" 2>&1 || true
  "${apt[@]}" install -y --no-install-recommends "$@" >>"$TOOLS/apt.log" 2>&1 && return 0
  tail -n 15 "$TOOLS/apt.log" >&2
  say "missing: $why. apt-get could not install: $*" >&2
  return "$MISSING"
}

# npm_install FOLDER WHY PACKAGE...: installs npm packages into $TOOLS/FOLDER.
npm_install() {
  local folder=$TOOLS/$1 why=$2
  shift 2
  have npm || apt_install "any npm, to fetch Node and Bun with" npm || return
  say "npm install $* ($why)"
  rm -rf "$folder"
  mkdir -p "$folder"
  echo '{ "private": true }' >"$folder/package.json"
  # npm was seen to wait for ever without an open connection: once more, then.
  if ! (cd "$folder" && for _ in 1 2; do
    timeout 300 npm install --no-audit --no-fund --loglevel=error "$@" >&2 && exit 0
  done; exit 1); then
    say "missing: $why. npm could not install: $*" >&2
    return "$MISSING"
  fi
}

# pip_cargo_tool NAME VERSION WHY: cargo-NAME into the Python environment, from the packages that Astral
# builds for pip, or else compiled by cargo, which takes minutes.
pip_cargo_tool() {
  local name=cargo-$1 version=$2 why=$3 environment=$TOOLS/venv
  [ "$("$environment/bin/$name" --version 2>/dev/null)" = "$name $version" ] && return 0
  say "pip install astral-dev-toolchain-$name==$version ($why)"
  "$environment/bin/python" -m pip install --quiet --disable-pip-version-check \
    "astral-dev-toolchain-$name==$version" && return 0
  say "cargo install $name --version $version ($why; this takes minutes)"
  cargo install --quiet --locked --root "$environment" --version "$version" "$name" && return 0
  say "missing: $why. Neither pip nor cargo could install $name" >&2
  return "$MISSING"
}

# npm_platform: the name npm packages use for this system, e.g. linux-x64.
npm_platform() {
  local system machine
  system=$(uname -s | tr '[:upper:]' '[:lower:]')
  machine=$(uname -m)
  case $machine in
    x86_64) machine=x64 ;;
    aarch64) machine=arm64 ;;
  esac
  echo "$system-$machine"
}
