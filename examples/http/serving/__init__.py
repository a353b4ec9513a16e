"""What `make demo-http` and the tests of this folder share."""
