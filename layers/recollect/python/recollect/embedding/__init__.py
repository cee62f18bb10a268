"""Embedding: what turns texts into unit vectors, and what every embedder needs for long texts."""
