"""Replicate behind the port."""
