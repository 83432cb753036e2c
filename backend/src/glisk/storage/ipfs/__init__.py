"""Bytes under their CIDs: how those are made, and where such bytes are pinned."""
