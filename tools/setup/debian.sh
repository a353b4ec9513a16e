# Packages of another Debian release than the machine's own, unpacked into a folder of $TOOLS: nothing of
# the machine is touched, and no root is needed. Sourced after common.sh; $TOOLS is set there.

# debian_packages SUITE FOLDER PACKAGE...: unpacks the packages of that release (trixie, say, or
# bookworm-backports) into $TOOLS/FOLDER, without what they depend on: name that too.
#
# The mirror is the one that this machine's apt is configured with, so a proxy or a local mirror
# works here as well. FOLDER/.packages/NAME says which version is there.
debian_packages() {
  local suite=$1 folder=$TOOLS/$2 package missing=()
  shift 2
  for package in "$@"; do
    [ -e "$folder/.packages/$package" ] || missing+=("$package")
  done
  ((${#missing[@]} == 0)) && return 0
  say "apt-get download ${missing[*]} (of Debian $suite, into $folder)"
  local mirror
  mirror=$(_debian_mirror "$suite" || true)
  if [ -z "$mirror" ] || ! have dpkg-deb; then
    say "missing: ${missing[*]} of Debian $suite. This is not Debian, or apt has no mirror of it" >&2
    return "$MISSING"
  fi
  # In a subshell, so that the scratch folder goes whatever happens.
  if ! (_debian_unpack "$mirror" "$suite" "$folder" "${missing[@]}"); then
    say "missing: Debian $suite's ${missing[*]} could not be downloaded" >&2
    return "$MISSING"
  fi
}

# _debian_unpack MIRROR SUITE FOLDER PACKAGE...: a package's version is noted once all of it is there.
# Every step is checked by hand, because `if` switches off `set -e`.
_debian_unpack() {
  local mirror=$1 suite=$2 folder=$3 file
  shift 3
  scratch=$(mktemp -d) || return
  trap 'rm -rf "$scratch"' EXIT
  cd "$scratch" || return
  _debian_download "$mirror" "$suite" "$@" >log 2>&1 || { tail -n 15 log >&2; return 1; }
  mkdir -p "$folder/.packages" || return
  for file in *.deb; do
    dpkg-deb --extract "$file" "$folder" || return
    dpkg-deb --show --showformat='${Version}\n' "$file" >"$folder/.packages/${file%%_*}" || return
  done
}

# _debian_mirror SUITE: the address that apt would fetch the suite from, or else the machine's own release.
# `--print-uris` fetches nothing, needs no package lists, and reads both formats of apt's configuration.
_debian_mirror() {
  local own suite uris found
  have apt-get || return 0
  own=$(. /etc/os-release && [ "$ID" = debian ] && echo "$VERSION_CODENAME") || return 0
  uris=$(apt-get update --print-uris 2>/dev/null)
  for suite in "$1" "$own"; do
    found=$(sed -n "s|^'\(.*\)/dists/$suite/InRelease'.*|\1|p" <<<"$uris" | head -n 1)
    [ -z "$found" ] || { echo "$found"; return 0; }
  done
}

# _debian_download MIRROR SUITE PACKAGE...: into the working directory, with package lists of its own. What
# the machine's configuration would run after an update (#clear) is not for such a look aside.
_debian_download() {
  local mirror=$1 suite=$2
  shift 2
  mkdir -p lists/partial cache/archives/partial none
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >sources.list
  cat >apt.conf <<OPTIONS
Dir::Etc { sourcelist "$PWD/sources.list"; sourceparts "$PWD/none"; };
Dir::Etc { preferences "/dev/null"; preferencesparts "$PWD/none"; };
Dir::State { lists "$PWD/lists"; status "/dev/null"; };
Dir::Cache "$PWD/cache";
APT::Sandbox::User "$(id -un)";
APT::Update::Error-Mode "any";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
OPTIONS
  apt-get -q -c apt.conf update && apt-get -q -c apt.conf download "$@"
}
