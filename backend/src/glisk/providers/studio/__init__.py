"""The embedded painter: what a prompt asks for, painted by rule and by chance."""

from __future__ import annotations

from glisk.providers.studio.painter import Studio

__all__ = ["Studio"]
