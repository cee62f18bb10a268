"""Another value that is told in other words, and what only looks like one."""

import pytest
from recollect.model import MemoryType
from recollect.reconcile import Candidate, Statement, reconcile

CLOSE = 0.8


def outcome(old: str, new: str, cosine: float = CLOSE) -> str:
    kind = MemoryType.SEMANTIC
    return reconcile(Statement(new, kind), [Candidate("old", old, kind, cosine)]).outcome


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Send the receipts by fax.", "Send the receipts by courier."),
        ("User sketches bridges.", "The user photographs bridges."),
        ("Omar reports to Lena every Friday.", "Lena reports to Omar every Friday."),
        ("The laptop has 16 GB of RAM.", "The laptop has 1 TB of storage."),
        ("To reset the router, hold the button for 10 seconds.", "To reset the modem, hold the button for 30 seconds."),
        ("Dana visited Rome in 2019.", "Dana visited Oslo in 2021."),
        ("The user's cousin Paul is a lawyer.", "The user's cousin Nina is a lawyer."),
    ],
)
def test_what_may_both_be_so_retires_nothing(old: str, new: str) -> None:
    assert outcome(old, new) in {"created", "conflict"}
    assert outcome(new, old) in {"created", "conflict"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("User's shoe size is EU 42.", "User wears EU size 43 shoes."),
        ("The cache on the edge host listens on port 11211.", "The cache port on the edge host was changed to 11212."),
        ("The log level in production is INFO.", "Production logs at WARNING level."),
    ],
)
def test_another_value_told_in_other_words_retires_the_old_one(old: str, new: str) -> None:
    assert outcome(old, new) == "superseded"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The monitoring stack consists of Grafana and Loki.", "Monitoring is done with Loki and Grafana."),
        ("The van needs its next inspection in March.", "The next van inspection is due in March."),
    ],
)
def test_what_seems_to_be_about_something_else_is_in_conflict_when_most_words_correspond(old: str, new: str) -> None:
    assert outcome(old, new) == "conflict"
    assert outcome(old, new, 0.6) == "created"


def test_what_is_said_of_two_people_is_no_conflict() -> None:
    assert outcome("Lena's sister plays the cello", "Omar's sister plays the cello") == "created"
