"""Makes spec/commands.json from what live servers say of their commands (spec/commands.md)."""
