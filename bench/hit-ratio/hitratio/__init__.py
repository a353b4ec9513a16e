"""Makes rows of the simulator's lines: `simulator` starts it, `rows` gathers, `checks` refuses."""
