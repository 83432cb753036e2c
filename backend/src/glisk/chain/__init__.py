"""Follows contracts on their chain: no mint is missed, none is a ghost."""
