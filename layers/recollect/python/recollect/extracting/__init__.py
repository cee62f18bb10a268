"""Finds memories in conversations by rules: turns worth keeping, and sentences that say something durable.

Pure. Rules read sentences of at most ``sentences.SENTENCE_MAX_CHARS`` characters, so that no pattern can take long;
what reads a whole message goes through it once, by words or lines.
"""
