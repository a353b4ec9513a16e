"""The command `polycache`: inspects and changes a cache directory. `polycache --help` describes
it."""

import signal
import sys

from .extension import load

__all__ = ["main"]


def main() -> int:
    """Runs the command with the arguments of this process, and gives its exit code."""
    if sys.argv[1:2] == ["import"]:
        # Only Python can read what it imports.
        from .diskcache.importing import main as imports

        return imports(sys.argv[2:])
    try:
        native = load()
    except ImportError as error:
        print(f"polycache: {error}", file=sys.stderr)
        return 4  # As the command itself where a cache cannot be opened.

    # Ctrl-C ends it at once: there is no Python state to clean up. Python ignores SIGPIPE by
    # default, so `| head` would be an error.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    code: int = native.cli(["polycache", *sys.argv[1:]])
    return code
