"""A server that tells nobody."""

from listening import Listeners

from subject import serve


class NoListener(Listeners):
    name = "no-listener"

    def __init__(self, hosts: int, **options: object) -> None:
        super().__init__(hosts=0, **options)  # type: ignore[arg-type]

    def listen(self) -> None:
        """Nobody does."""

    def settle(self, told: int) -> None:
        """Nobody is told."""


if __name__ == "__main__":
    serve(NoListener)
