"""Lets the subjects of the Rust program take turns, and reads what criterion measured."""
