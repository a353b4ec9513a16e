"""The names of diskcache's module `persistent`, for programs that import them from there."""

from .deque import Deque
from .index import Index

__all__ = ["Deque", "Index"]
