"""A chain of a test's own."""

from __future__ import annotations

from tests.chains import chain, collection

__all__ = ["chain", "collection"]
