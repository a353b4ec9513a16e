"""The parts of tools/run_tests.py: sections, how they are run, how their results are counted."""
