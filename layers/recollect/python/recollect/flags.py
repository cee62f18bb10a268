"""What to be careful about in a memory. Pure: its texts in, flags out.

A text that tries to instruct the model that reads it is stored like any other and found by search, but it is flagged,
and stays out of the context until somebody approves it.
"""

import re

INSTRUCTION = "instruction"

# Phrases that address the reading model rather than say something about the user.
_INSTRUCTING = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.!?\n]{0,40}"
    r"\b(?:previous|prior|above|earlier|all|any|your|system|these|those)\b[^.!?\n]{0,40}"
    r"\b(?:instructions?|prompts?|rules?|messages?|context|guidelines?|safety)\b"
    r"|\b(?:system|developer) (?:prompt|message)\b"
    r"|\byou (?:are|act) (?:now|from now on)\b|\bfrom now on,? you\b|\bpretend (?:to be|you are)\b"
    r"|\b(?:reveal|print|repeat|leak|output)\b[^.!?\n]{0,30}\b(?:system prompt|your (?:instructions|prompt))\b"
    r"|\bdo not (?:tell|inform|mention (?:this|it) to) the user\b"
    r"|<\|?(?:im_start|im_end|system|endoftext)\|?>|\[/?INST\]|^\s*#{2,}\s*(?:system|instruction)s?\b"
    r"|^\s*(?:system|assistant)\s*:",
    re.IGNORECASE | re.MULTILINE,
)


def flags_of(content: str, actor: str | None) -> tuple[str, ...]:
    """Look for what a reader of a memory must be careful about, in whatever of it the context shows.

    Returns
    -------
    tuple of str
        ``instruction`` or nothing.
    """
    is_instructing = any(_INSTRUCTING.search(text) for text in (content, actor or ""))
    return (INSTRUCTION,) if is_instructing else ()
