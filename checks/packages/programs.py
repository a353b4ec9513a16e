"""Commands that both the wheel and the gem ship: what has to be true of `polycache` whichever
package it comes from."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from command import environment, run


def check_command(
    command: Sequence[str | Path],
    folder: Path,
    env: Mapping[str, str] | None = None,
    version: str = "0.1.0",
) -> None:
    """`command` starts polycache in `folder`, where nothing is yet."""

    def polycache(*arguments: str, code: int = 0) -> str:
        return run([*command, *arguments], folder, env, code=code).stdout

    assert polycache("--version") == f"polycache {version}\n"
    polycache("set", "-d", ".cache", "-n", "shop", "user:1", '{"name": "Ada"}', "--type", "json")
    assert "user:1" in polycache("keys", "-d", ".cache", "-n", "shop")
    assert '"Ada"' in polycache("get", "-d", ".cache", "-n", "shop", "user:1", "--json")
    polycache("get", "-d", ".cache", "-n", "shop", "absent", code=1)
    polycache("get", code=2)
    assert "polycache" in polycache("completions", "bash")
    # Bytes that are not text reach it as they are, and do no harm.
    run([*command, "get", "-d", ".cache", os.fsdecode(b"\xff")], folder, env, code=None)


def check_reader_that_stops(
    command: Sequence[str | Path], folder: Path, env: Mapping[str, str] | None = None
) -> None:
    """`polycache keys | head -1`, with more keys than a pipe holds, is not an error."""
    words = " ".join(f"'{word}'" for word in command)
    script = (
        f"{words} keys -d .cache -n many > all && [ $(wc -c < all) -gt 100000 ] || exit 90; "
        f"{words} keys -d .cache -n many | head -1; exit ${{PIPESTATUS[0]}}"
    )
    done = run(["bash", "-c", script], folder, env)
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""


def check_control_c(
    command: Sequence[str | Path], folder: Path, env: Mapping[str, str] | None = None
) -> None:
    """Ctrl-C at a terminal ends a command that waits there, without a word."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [str(word) for word in [*command, "clear", "-d", ".cache"]],
        cwd=folder,
        env=environment(env),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        # A session with this terminal, so that Ctrl-C reaches it as a person's does.
        start_new_session=True,
        preexec_fn=_take_terminal,
    )
    os.close(theirs)
    try:
        shown = b""
        while b"[y/N]" not in shown:  # The read fails when the command ends.
            shown += os.read(ours, 1000)
        os.write(ours, b"\x03")
        assert process.wait(60) == -signal.SIGINT
    finally:
        process.kill()
        process.wait()
    after = b""
    try:
        while more := os.read(ours, 1000):
            after += more
    except OSError:  # Linux reports a closed other end this way.
        pass
    os.close(ours)
    assert after.strip() in (b"", b"^C"), after


def _take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
