"""The parts of tools/api.py: a reader for each language, the comparison, and the page."""
