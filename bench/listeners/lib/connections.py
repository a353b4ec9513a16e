"""Connections that a server tells of writes. One thread reads them all, and counts keys."""

from __future__ import annotations

import selectors
import socket
import threading

import hiredis
from listening import wait

GREETING = ("HELLO", "3")
PUSHED = b"invalidate"


class Connections:
    def __init__(self) -> None:
        self.told = 0
        self.sockets: list[socket.socket] = []
        self.selector = selectors.DefaultSelector()
        self.ended = False
        self.thread: threading.Thread | None = None

    def open(self, port: int, *commands: tuple[str, ...]) -> socket.socket:
        """A connection in RESP3 that has had a reply to each of these commands."""
        one = socket.create_connection(("127.0.0.1", port))
        reader = hiredis.Reader()
        for words in (GREETING, *commands):
            one.sendall(hiredis.pack_command(words))
            while (reply := reader.gets()) is False:
                reader.feed(one.recv(1 << 16))
            if isinstance(reply, hiredis.ReplyError):
                raise reply
        self.sockets.append(one)
        self.selector.register(one, selectors.EVENT_READ, reader)
        return one

    def start(self) -> None:
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()

    def _listen(self) -> None:
        while not self.ended:
            for ready, _ in self.selector.select(0.1):
                assert isinstance(ready.fileobj, socket.socket)
                received = ready.fileobj.recv(1 << 20)
                if not received:
                    self.selector.unregister(ready.fileobj)
                    continue
                ready.data.feed(received)
                while (said := ready.data.gets()) is not False:
                    # Others are replies.
                    if isinstance(said, hiredis.PushNotification) and said[0] == PUSHED:
                        self.told += len(said[1])

    def settle(self, told: int) -> None:
        """Returns when so many keys were told of since the last call."""
        wait("pushes", lambda: self.told >= told)
        self.told -= told

    def close(self) -> None:
        self.ended = True
        if self.thread:
            self.thread.join()
        for one in self.sockets:
            one.close()
