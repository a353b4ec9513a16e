"""Files without a name, which end with the process that writes them, until they are given one."""

import os
from pathlib import Path


def new_file(folder: Path, name: str) -> tuple[int, str | None]:
    """A new file on the folder's disk: its descriptor, and `name` where it has to have one.

    Not every file system knows files without a name, and the way to give them one is in /proc. One
    with a name stays when the process is killed, until the folder is emptied.
    """
    flags = os.O_WRONLY | os.O_CLOEXEC
    unnamed = getattr(os, "O_TMPFILE", None)
    if unnamed is not None:
        try:
            file = os.open(folder, flags | unnamed, 0o600)
        except OSError:
            pass
        else:
            if os.path.exists(_link_to(file)):
                return file, None
            os.close(file)
    return os.open(name, flags | os.O_CREAT | os.O_EXCL, 0o600), name


def give_name(file: int, name: str) -> None:
    # The folder's descriptor is not used for an absolute path, but only with one is the link of
    # /proc followed.
    os.link(_link_to(file), name, src_dir_fd=file, follow_symlinks=True)


def _link_to(file: int) -> str:
    return f"/proc/self/fd/{file}"
