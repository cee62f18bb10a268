"""Recollect: long-term memory for AI agents; the core that every function shares."""

__version__ = "0.1.0"
