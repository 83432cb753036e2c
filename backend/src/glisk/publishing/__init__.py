"""What the world is told about a token: its metadata, and where its picture comes from."""
