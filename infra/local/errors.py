"""The one error of the local cloud: a sentence that says what is wrong and what to do."""


class LocalCloudError(Exception):
    """Something that the person at the terminal can put right; its text is printed as one line."""
