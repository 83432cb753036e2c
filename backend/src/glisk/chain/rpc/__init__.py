"""Asks a chain's nodes, of which any may be slow, behind, gone or wrong."""
