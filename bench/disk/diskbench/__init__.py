"""What the subjects of this benchmark share: a store's interface, the values, and what is measured."""
