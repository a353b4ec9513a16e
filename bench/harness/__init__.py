"""What every benchmark shares: subjects in processes of their own, alternating rounds, medians with
quartiles, ratios first, one results format (bench/README.md)."""
