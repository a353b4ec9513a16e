"""Durations, as the options and methods of a cache take them."""

from datetime import timedelta
from typing import TypeAlias

Duration: TypeAlias = str | int | float | timedelta
"""Text like "250ms", "30s", "5m", "2h" or "1d"; a number of seconds; or a timedelta."""
