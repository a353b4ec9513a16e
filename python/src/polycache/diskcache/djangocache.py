"""The name of diskcache's module `djangocache`, for programs that import from there."""

from .django import DjangoCache

__all__ = ["DjangoCache"]
