"""The parts of examples/demo/demo.py: what is asked of the workers, and how it is judged."""
