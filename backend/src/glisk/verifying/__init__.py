"""Is what a collector sees what was promised? From the chain to the picture, without our database."""
