"""What the subjects share: a store's interface, keys and values, and what is measured."""
