import pytest
from recollect.model import MemoryType
from recollect.reconcile import Candidate, Statement, Verdict, reconcile


def decide(old: str, new: str, kind: MemoryType = MemoryType.SEMANTIC) -> Verdict:
    return reconcile(Statement(new, kind), [Candidate("old", old, kind, 0.85)])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The user lives in New York City", "User lives in NYC"),
        ("On weekends, I go running", "I go running on the weekend"),
        ("The stand-up is at half past nine", "The standup is at 9:30"),
        ("Maria manages the design team", "The design team is managed by Maria"),
        ("Maria leads the design team", "Maria is the head of the design team"),
        ("I was born in 1990", "My birth year is 1990"),
        ("The user has two kids", "User is a parent of two children"),
        ("The user hates loud music", "User can't stand loud music"),
        ("The user's son is 5", "User has a five-year-old son"),
        ("The fee is 1,450 euros a month", "The fee is €1450 per month"),
        ("Ana's daughter is called Mirela and is six years old", "Ana has a 6-year-old daughter named Mirela"),
        ("The user would rather take the train", "User prefers to take the train"),
        ("Der Nutzer trinkt Kaffee ohne Zucker", "Der Nutzer trinkt Kaffee ungesüßt"),
        ("El usuario trabaja como enfermero", "El usuario es enfermero"),
        ("L'utilisateur habite à Paris", "L'utilisateur vit à Paris"),
        ("Da cinque anni l'utente è vegetariano", "L'utente è vegetariano da 5 anni"),
        ("用户住在杭州，喜欢喝绿茶。", "用户在杭州居住，爱喝绿茶。"),
        ("猫を二匹飼っている。", "猫を2匹飼っています。"),
    ],
)
def test_a_paraphrase_changes_nothing(old: str, new: str) -> None:
    assert decide(old, new).outcome == "unchanged"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Pull requests need two approvals before they can be merged", "A PR must have 2 approvals before merging"),
        ("If the build fails, delete the .cache folder", "When the build breaks, remove the .cache directory"),
        ("Let the dough rest for twenty-four hours", "The dough should rest for 24 hours"),
        ("Back up the database every night", "The database is backed up nightly"),
        ("Never deploy on Fridays", "Do not deploy on Friday"),
    ],
)
def test_an_instruction_in_other_words_changes_nothing(old: str, new: str) -> None:
    assert decide(old, new, MemoryType.PROCEDURAL).outcome == "unchanged"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I like Ana", "Ana likes me"),
        ("The dog chased the cat", "The cat chased the dog"),
        ("Ana paid Bob 20 euros", "Bob paid Ana 20 euros"),
        ("User lent Ana 50 euros", "Ana lent the user 50 euros"),
        ("User eats meat but not fish", "User eats fish but not meat"),
        (
            "User drinks tea in the morning and coffee in the evening",
            "User drinks coffee in the morning and tea at night",
        ),
        ("User likes tea in winter and beer in summer", "User likes beer in winter and tea in summer"),
        ("User has a dog", "User has another dog"),
        ("User has a car", "User needs a car"),
        ("User's father has two children", "User has two children"),
        ("User takes vitamin D", "User takes vitamin C"),
        ("User moved to Rome with Ana", "User moved to Rome with Ben"),
        ("User's flight to Rome leaves at 9", "User's flight from Rome leaves at 14"),
        ("The library closes at 6 pm on weekdays", "The library closes at 4 pm on weekends"),
        ("Kim works with Lee on Mondays", "Kim works with Park on Tuesdays"),
        ("User likes working in the morning", "User likes reading in the evening"),
        ("User uses vim for Python", "User uses VS Code for Java"),
    ],
)
def test_the_same_words_in_other_roles_are_something_else(old: str, new: str) -> None:
    assert decide(old, new).outcome in {"created", "conflict"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("To deploy, run make deploy", "To deploy, run make release"),
        ("Write the minutes in English", "Write the minutes in French"),
    ],
)
def test_what_is_typed_or_written_has_no_synonyms(old: str, new: str) -> None:
    assert decide(old, new, MemoryType.PROCEDURAL).outcome == "superseded"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Ask before deleting files", "Do not delete files without asking"),
        ("Use black for Python", "Use prettier for JavaScript"),
        ("Reply to Ana in German", "Reply to Tom in English"),
        ("Use feature flags for risky changes", "Use code review for risky changes"),
        ("Format Python code with black", "Format Go code with gofmt"),
    ],
)
def test_instructions_for_other_cases_stay(old: str, new: str) -> None:
    assert decide(old, new, MemoryType.PROCEDURAL).outcome in {"created", "conflict"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We host our repositories on GitLab", "We moved all our repositories from GitLab to GitHub"),
        ("User lives in Denver with two cats", "User lives in Portland now, after moving from Denver with two cats"),
        ("User drinks two cups of coffee every morning", "User has stopped drinking coffee"),
        ("I am a strict vegetarian", "I started eating meat again and am no longer a vegetarian"),
        ("The cluster has 8 nodes", "The cluster was scaled up and has 12 nodes"),
        ("The launch is planned for May 12", "The launch has been moved to June 3"),
        ("The app is written in Java", "The app has been rewritten in Kotlin"),
        ("User does not have a driver's license", "User passed the test and has a driver's license"),
        ("Pavel is single at the moment", "Pavel is now married to Ingrid"),
        ("User finds the sofa comfortable", "User finds the sofa uncomfortable"),
        ("User's boss is Marion Keller", "User has a new boss named Ivan Petrov"),
        ("User's phone is an iPhone 12", "User replaced the old phone and now uses a Pixel 8"),
        ("Grandma lives alone in her house", "Grandma has moved into a care home"),
        ("The meeting is on Tuesdays at 10 am", "The meeting is on Thursdays at 10 am"),
        ("User goes to the gym three times a week", "User goes to the gym five times a week"),
        ("The user's car is red", "The user's car is black"),
        ("Der Nutzer wohnt in Leipzig", "Der Nutzer ist von Leipzig nach Dresden umgezogen"),
        ("A equipe usa o Slack para conversar", "A equipe trocou o Slack pelo Teams para conversar"),
        ("O usuário prefere café a chá", "O usuário prefere chá a café"),
        ("L'utilisatrice fume un paquet par jour", "L'utilisatrice a arrêté de fumer"),
    ],
)
def test_a_change_told_in_free_words_replaces_the_old_value(old: str, new: str) -> None:
    assert decide(old, new).outcome == "superseded"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Report incidents in the #alerts channel", "Report incidents in the #incidents channel instead of #alerts"),
        ("To deploy, run ./deploy.sh on the server", "To deploy, push a tag; ./deploy.sh is no longer used"),
        ("Use npm to install the dependencies", "Use pnpm to install the dependencies, not npm"),
        ("A release needs one approval from the team", "A release no longer needs an approval from the team"),
        ("Feed the puppy twice a day", "Feed the puppy three times a day"),
        ("Ask Dana for approval before ordering", "Ask Felix for approval before ordering"),
    ],
)
def test_a_changed_way_of_doing_replaces_the_old_one(old: str, new: str) -> None:
    assert decide(old, new, MemoryType.PROCEDURAL).outcome == "superseded"


def test_what_else_the_old_memory_says_is_not_lost() -> None:
    assert decide("User likes tea and uses Slack at work", "User switched from Slack to Teams").outcome != "superseded"
    assert decide("User likes tea. User lives in Rome.", "User moved to Oslo and likes it").outcome != "superseded"
