"""Every mint becomes art. No mint is lost, no image is paid for twice."""

__version__ = "0.1.0"
