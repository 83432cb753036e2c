"""A module for `glisk work --processors`, after which nobody here can think."""

from __future__ import annotations

from glisk.processors import REGISTRY

REGISTRY.kinds.pop("thinking", None)
