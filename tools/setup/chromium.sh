# Chromium, and Playwright that drives it, for tests that look at a page. Playwright's own download of
# a browser is not used. Only what asks for it by name gets it.

PLAYWRIGHT_VERSION=1.65.2

need_chromium() {
  need_python || return
  if ! "$TOOLS/venv/bin/python" -c "
import sys
from importlib.metadata import version
sys.exit(version('playwright') != '$PLAYWRIGHT_VERSION')" 2>/dev/null; then
    say "pip install playwright==$PLAYWRIGHT_VERSION (drives Chromium in tests)"
    if ! "$TOOLS/venv/bin/python" -m pip install --quiet --disable-pip-version-check \
      "playwright==$PLAYWRIGHT_VERSION"; then
      say "missing: pip could not install Playwright" >&2
      return "$MISSING"
    fi
  fi
  have chromium && return 0
  apt_install "Chromium, which the report page is tested in" chromium
}
