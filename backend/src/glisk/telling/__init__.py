"""Telling the world: signed webhooks about tokens, and alerts about trouble."""
