"""Makes passages of conversations for tests."""

from recollect.conversation import Message, Passage, Role

from tests.support.builders import NOW_MS

TRANSCRIPT = "01HG0000000000000000000000"


def passage(*said: tuple[str, str], first: int = 0, begin: int = 0, name: str | None = None) -> Passage:
    """Make a passage of (role, text) pairs, numbered from `begin`, a minute apart; `name` is the user's."""
    messages = tuple(
        Message(
            index=begin + number,
            role=Role(role),
            text=text,
            name=name if role == "user" else None,
            at_ms=NOW_MS + 60_000 * number,
        )
        for number, (role, text) in enumerate(said)
    )
    return Passage(
        transcript_id=TRANSCRIPT,
        session_id="s-1",
        agent_id="helper",
        occurred_at_ms=NOW_MS,
        messages=messages,
        first=first,
    )
