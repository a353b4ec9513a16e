"""The command `polycache`: looks into a cache directory and changes it. `polycache --help` lists
what it does."""

import signal
import sys

from .extension import load

__all__ = ["main"]


def main() -> int:
    """Runs the command with the arguments of this process, and gives its exit code."""
    try:
        native = load()
    except ImportError as error:
        print(f"polycache: {error}", file=sys.stderr)
        return 4  # As the command itself where a cache cannot be opened.

    # Ctrl-C ends it at once: there is no Python that could clean up. SIGPIPE Python ignores by
    # itself, so that `| head` is no failure.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    code: int = native.cli(["polycache", *sys.argv[1:]])
    return code
