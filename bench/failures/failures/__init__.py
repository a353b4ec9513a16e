"""Brings a server into trouble, and looks at what its clients and caches do then."""
