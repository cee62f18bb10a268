"""Consolidation: one memory out of several that overlap, and what becomes of it when one of those changes. Pure."""
