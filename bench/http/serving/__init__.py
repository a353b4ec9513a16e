"""What the HTTP benchmark adds to the harness: servers, the stream that they read, and load."""
