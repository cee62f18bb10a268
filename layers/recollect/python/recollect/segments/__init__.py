"""Segments: many memories of one user as immutable columns, their bytes, and how they are made and merged."""
