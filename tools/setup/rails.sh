# Rails without ActiveRecord and JavaScript, and Puma: for the tests of docs/ruby-http.md's part about Rails. Twice:
# the machine's own (6.1 in Debian bookworm, which is over Rack 2), and trixie's 7.2, which is over Rack 3. The latter is
# plain Ruby, and unpacked; nokogiri, which is not, comes with the former.

. "$here/setup/debian.sh"

need_rails() {
  need_clients || return
  local packages=()
  ruby -e 'gem "railties"' 2>/dev/null || packages+=(ruby-railties)
  ruby -e 'gem "puma"' 2>/dev/null || packages+=(puma)
  ((${#packages[@]} == 0)) || apt_install "Rails and its server" "${packages[@]}" || return
  debian_packages trixie debian/rails ruby-railties ruby-actionpack ruby-actionview ruby-activesupport \
    ruby-rack ruby-rack-session ruby-rack-test ruby-rackup ruby-useragent ruby-zeitwerk ruby-thor \
    ruby-concurrent ruby-i18n ruby-tzinfo ruby-connection-pool ruby-rails-html-sanitizer \
    ruby-rails-dom-testing ruby-loofah
}
