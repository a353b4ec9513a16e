"""Starts the subjects, lets them take turns, and reports (bench/host/README.md)."""
