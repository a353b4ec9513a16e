# Ruby with what its tests, its lint and its native extension (bindgen reads ruby.h through
# libclang) are run with. Everything is a Debian package: no gem is downloaded.

need_ruby() {
  local packages=()
  have ruby || packages+=(ruby)
  have ruby && ruby -rmkmf -e 'exit File.exist?($hdrdir + "/ruby.h")' 2>/dev/null || packages+=(ruby-dev)
  have rake || packages+=(rake)
  have bundle || packages+=(bundler)
  have rubocop || packages+=(rubocop)
  have clang || packages+=(clang)
  ls /usr/lib/llvm-*/lib/libclang.so /usr/lib/*/libclang*.so* >/dev/null 2>&1 || packages+=(libclang-dev)
  ruby -e 'gem "minitest"' 2>/dev/null || packages+=(ruby-minitest)
  ((${#packages[@]} == 0)) && return 0
  apt_install "Ruby, its tests and its native extension" "${packages[@]}"
}
