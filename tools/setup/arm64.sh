# What `make test-arm64` runs programs for ARM64 with: QEMU, and the C library of that processor. What builds them is
# platforms.sh's. Only what asks for it by name gets it.

need_arm64() {
  need_platforms || return
  debian_packages bookworm debian/arm64 qemu-user-static libc6-arm64-cross
}
