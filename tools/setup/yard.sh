# YARD, which makes the reference of the Ruby package from its comments: Debian's package.

need_yard() {
  need_ruby || return
  have yard && return 0
  apt_install "YARD, which makes the reference of the Ruby package" yard
}
