"""What the lexicon adds to the rules: the same by what words mean, and changes that statements announce."""

import pytest
from recollect.model import MemoryType
from recollect.reconcile import Candidate, Statement, Verdict, reconcile


def decide(old: str, new: str, kind: MemoryType = MemoryType.SEMANTIC, cosine: float = 0.85) -> Verdict:
    return reconcile(Statement(new, kind), [Candidate("old", old, kind, cosine)])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The user is employed as a tailor", "User has a job as a tailor"),
        ("The user plays the harp in a quartet", "The user is a harpist in a quartet"),
        ("User's grandfather died in 1998", "The user's grandfather passed away in 1998"),
        ("User comes from Portugal", "The user is Portuguese"),
        ("The user founded a company named Ember", "User is the founder of a company called Ember"),
        ("The user rents a garage with Lea", "Lea and the user rent a garage"),
        ("User lives by himself", "The user lives alone"),
        ("User wants to get no newsletters", "The user asked not to get newsletters"),
        ("User's shift starts at 7 o'clock", "The user's shift begins at 7:00"),
    ],
)
def test_the_same_by_what_the_words_mean_changes_nothing(old: str, new: str) -> None:
    assert decide(old, new).outcome == "unchanged"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("User works as a doctor in Bern", "User works as a surgeon in Bern"),
        ("User avoids lactose", "The user never eats lactose"),
    ],
)
def test_words_that_say_more_are_kept(old: str, new: str) -> None:
    verdict = decide(old, new)

    assert (verdict.outcome, verdict.content) == ("merged", new)


def test_words_that_say_less_are_known() -> None:
    assert decide("User works as a surgeon in Bern", "User works as a doctor in Bern").outcome == "unchanged"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("User owns a violin", "User owns a cello"),
        ("User's printer is a Brother", "User's brother has a printer"),
        ("User likes coffee", "User likes coffee cake"),
        ("User is repairing a boat", "User is painting a boat"),
        ("User hired a lawyer", "User is a lawyer"),
        ("The boys play chess on Sundays", "The men play chess on Sundays"),
        ("User jumped off the wall", "User jumped onto the wall"),
    ],
)
def test_other_things_of_one_kind_are_not_the_same(old: str, new: str) -> None:
    assert decide(old, new).outcome in {"created", "conflict"}


def test_a_low_cosine_supports_no_loose_likeness() -> None:
    old, new = "User works as a doctor in Bern", "User works as a surgeon in Bern"

    assert decide(old, new, cosine=0.9).outcome == "merged"
    assert decide(old, new, cosine=0.7).outcome in {"created", "conflict"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The choir has nine members", "With the new tenor the choir has ten members"),
        ("User's rent is 700 euros", "Since March the user's rent is 760 euros"),
        ("User drinks four cups of tea a day", "The user has cut down to two cups of tea a day"),
        ("The main branch is called trunk", "The main branch was renamed to stable"),
        ("User is 51 years old", "The user turned 52"),
        ("The river's level is high", "The river's level is normal again"),
        ("User's rent is 700 euros a month", "Rent went up to 760 euros per month"),
        ("User's wedding is in May", "The wedding has been pushed back to July"),
        ("Logs are kept for 30 days", "Logs are now retained for 90 days"),
        ("User wants long, detailed answers", "The user now wants answers to be short"),
        ("User eats meat", "The user became a vegetarian"),
        ("User is a vegetarian", "The user eats meat"),
        ("The licence expires in April", "The licence was renewed and expires next October"),
        ("User is lactose intolerant", "A test showed that the user is not lactose intolerant"),
        ("The user's team uses Trello", "The team dropped Trello in favour of Basecamp"),
        ("User wants to be called Bill", "The user prefers to be called William"),
        ("Reply in a formal tone", "Reply in a casual tone"),
        ("The service listens on port 4000", "The service listens on port 5000"),
        ("Der Nutzer wohnt in Ulm", "Der Nutzer ist nach Jena gezogen"),
    ],
)
def test_an_announced_change_replaces_the_value(old: str, new: str) -> None:
    kind = MemoryType.PROCEDURAL if old.startswith("Reply") else MemoryType.SEMANTIC

    assert decide(old, new, kind).outcome == "superseded"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("User drinks tea", "The user has cut down on meetings"),
        ("User's sister eats meat", "The user became a vegetarian"),
        ("User's dog is nine", "The user's cat turned ten"),
        ("The kitchen has two windows", "With the new wall the hall has three windows"),
        ("User uses Trello at home", "The user's employer dropped Basecamp"),
    ],
)
def test_an_announced_change_of_something_else_replaces_nothing(old: str, new: str) -> None:
    assert decide(old, new).outcome in {"created", "conflict"}


@pytest.mark.parametrize("cosine", [0.6, 0.75, 0.9])
def test_a_denial_contradicts_only_what_it_is_about(cosine: float) -> None:
    assert decide("The user avoids abbreviations", "The user likes black", cosine=cosine).outcome == "created"
    old = "The user avoids abbreviations. The user likes short answers."
    assert decide(old, "The user likes black", cosine=cosine).outcome == "created"


def test_a_change_told_in_other_words_is_left_to_the_caller() -> None:
    assert (
        decide("User has a rented flat in Cork", "The user bought a house and moved", cosine=0.6).outcome == "conflict"
    )
