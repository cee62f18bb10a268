"""Single sentences: what they become, and what is none of our business."""

import pytest
from recollect.extracting.dates import resolved
from recollect.model import MemoryType
from recollect.reconcile import Candidate, Statement, reconcile

from tests.support.talks import at_ms, contents


@pytest.mark.parametrize(
    "said",
    [
        "I prefer dark mode.",
        "i prefer dark mode",
        "Hey! By the way, I really prefer dark mode, thanks!",
        "Well, I still prefer dark mode 🙂",
        "Just so you know: I prefer dark mode",
        "- I prefer dark mode",
    ],
)
def test_the_same_preference_becomes_the_same_statement_however_it_is_dressed(said: str) -> None:
    assert contents(said) == ["The user prefers dark mode"]


@pytest.mark.parametrize(
    ("said", "statement"),
    [
        ("I'm a nurse.", "Maya is a nurse"),
        ("I don't eat meat", "Maya does not eat meat"),
        ("I can’t stand cilantro!", "Maya can not stand cilantro"),
        ("I've got a cat called Luna", "Maya has got a cat called Luna"),
        ("I study biology and teach yoga", "Maya studies biology and teaches yoga"),
        ("I live in Bonn with my partner and my dog", "Maya lives in Bonn with their partner and their dog"),
        ("My sister is diabetic", "Maya's sister is diabetic"),
        ("My sister's diabetic.", "Maya's sister is diabetic"),
        ("My wife and I moved to Lisbon", "Maya and their wife moved to Lisbon"),
        ("Samantha and I have decided to move in together", "Maya and Samantha have decided to move in together"),
        ("Me and my husband love hiking", "Maya and their husband love hiking"),
        ("We use Redis for the cache", "Maya's team uses Redis for the cache"),
        ("Let's go with Postgres", "Maya's team decided to go with Postgres"),
        ("I moved to Graz because I am a skier", "Maya moved to Graz because they are a skier"),
        ("Since March I've been living in Ghent", "Since March Maya has been living in Ghent"),
        ("I never drink coffee after noon", "Maya never drinks coffee after noon"),
        ("I usually jot things down in a notebook", "Maya usually jots things down in a notebook"),
        ("My birthday is on May 8", "Maya's birthday is on May 8"),
        ("Kim is my manager", "Kim is Maya's manager"),
        ("Call me Mimi, please", "Maya wants to be called Mimi"),
    ],
)
def test_a_statement_says_in_the_third_person_what_the_speaker_said_in_the_first(said: str, statement: str) -> None:
    assert contents(said, name="Maya") == [statement]


@pytest.mark.parametrize(
    ("said", "statements"),
    [
        ("I'm Irish and I work at Bosch", ["The user is Irish", "The user works at Bosch"]),
        ("I live in Rome, but maybe I'll move", ["The user lives in Rome"]),
        ("I prefer tea and please answer in German", ["The user prefers tea", "Always answer in German"]),
        ("My mum Anna has asthma and my dad lives in Rome",
         ["The user's mum Anna has asthma", "The user's dad lives in Rome"]),
    ],
)  # fmt: skip
def test_clauses_are_statements_of_their_own(said: str, statements: list[str]) -> None:
    assert contents(said) == statements


@pytest.mark.parametrize(
    "said",
    [
        "Do I like jazz?",
        "Am I allergic to nuts?",
        "If I moved to Berlin, I would work at Siemens",
        "I'd like to think I am a vegetarian",
        "Maybe I'm allergic to nuts",
        "I think I prefer tea",
        "I wish I lived in Rome",
        "I might move to Paris",
        "Imagine I live in Tokyo",
        "I'm tired today",
        "I'm on the bus",
        "I have a headache",
        "I have a question",
        "I love it!",
        "I love your idea",
        "I like the second option",
        "I live there",
        "She said she loves jazz",
        "My boss said he prefers tabs",
        'He told me: "I am allergic to cats. I live in Oslo."',
        "«Je préfère le thé. J'habite à Lyon.»",
        "> I prefer tea",
        "```\nI prefer tea\n```",
        "Bob: I live in Bern. I work at Roche.",
        "Please proofread:\nI live in Berlin. I prefer tea.",
        "Write a poem in French",
        "Explain this in simple terms",
        "Use the following code",
        "Never mind",
        "Call me back later",
        "To be honest, run away",
        "To fix this, check the logs",
        "You are a nurse",
        "The tests are failing",
        "Ich würde gerne in Rom leben",
        "Je voudrais un café",
        "¿Vivo en Madrid?",
    ],
)
def test_what_is_asked_doubtful_passing_vague_or_of_others_is_no_fact(said: str) -> None:
    assert contents(said) == []


@pytest.mark.parametrize(
    ("said", "instruction"),
    [
        ("Always answer in German.", "Always answer in German"),
        ("From now on, please answer in German and keep it short", "Always answer in German and keep it short"),
        ("Can you always use metric units?", "Always use metric units"),
        ("I want you to never push to main without asking", "Never push to main without asking"),
        ("When I ask for code, add type hints.", "When the user asks for code, add type hints"),
        ("Please don't use emojis", "Do not use emojis"),
        ("Could you keep your answers under 100 words?", "Keep your answers under 100 words"),
        ("Bitte antworte immer auf Deutsch.", "Bitte antworte immer auf Deutsch"),
    ],
)
def test_what_a_user_asks_for_good_is_an_instruction(said: str, instruction: str) -> None:
    assert contents(said) == [instruction]


@pytest.mark.parametrize("speaker", ["assistant", "document", "tool", "system"])
def test_nobody_but_a_user_gives_facts_or_instructions(speaker: str) -> None:
    text = "Always answer in German. I prefer dark mode. The user lives in Rome. To deploy, run make."
    assert contents(text, name=speaker) == []


@pytest.mark.parametrize(
    ("said", "how"),
    [
        ("To deploy, run `make build`. Then run `make deploy`.",
         "To deploy, run `make build`. Then run `make deploy`"),
        ("How to reset the router:\n1. Unplug it.\n2. Plug it in again.",
         "How to reset the router: 1. Unplug it. 2. Plug it in again"),
        ("When the build fails, clear the cache first.", "When the build fails, clear the cache first"),
        ("We deploy by running make deploy.", "The user's team deploys by running make deploy"),
    ],
)  # fmt: skip
def test_how_something_is_done_is_kept_with_its_steps(said: str, how: str) -> None:
    assert contents(said) == [how]


@pytest.mark.parametrize(
    ("said", "on_tuesday_2026_05_05"),
    [
        ("I start tomorrow", "I start on 2026-05-06"),
        ("yesterday morning it rained", "on the morning of 2026-05-04 it rained"),
        ("dinner is tonight", "dinner is on the evening of 2026-05-05"),
        ("the day after tomorrow", "on 2026-05-07"),
        ("I fly on Friday", "I fly on 2026-05-08"),
        ("I went on Friday", "I went on 2026-05-01"),
        ("I fly next Friday", "I fly on 2026-05-15"),
        ("I met Tom last Monday", "I met Tom on 2026-05-04"),
        ("due by Friday", "due by 2026-05-08"),
        ("moved to next Thursday", "moved to 2026-05-14"),
        ("last week", "in the week of 2026-04-27"),
        ("this weekend", "on the weekend of 2026-05-09"),
        ("next month", "in June 2026"),
        ("since last year", "since 2025"),
        ("in two months", "in July 2026"),
        ("in 3 days", "on 2026-05-08"),
        ("ten days ago", "on 2026-04-25"),
        ("about two years ago", "around 2024"),
        ("last summer", "in summer 2025"),
        ("next January", "in January 2027"),
        ("tomorrow's meeting", "the 2026-05-06 meeting"),
        ("in early next year", "in early 2027"),
        ("from Monday to Friday", "from Monday to Friday"),
        ("I run on Mondays", "I run on Mondays"),
        ("every Friday", "every Friday"),
        ("for the last year", "for the last year"),
        ("on Friday, May 8", "on Friday, May 8"),
    ],
)
def test_relative_dates_become_what_they_meant_when_they_were_said(said: str, on_tuesday_2026_05_05: str) -> None:
    assert resolved(said, at_ms("2026-05-05")) == on_tuesday_2026_05_05


def test_a_time_that_no_calendar_has_leaves_the_words_as_they_are() -> None:
    assert resolved("I fly tomorrow", 10**18) == "I fly tomorrow"
    assert resolved("I retired 900 years ago and nothing since", -(10**13) * 5).startswith("I retired")


@pytest.mark.parametrize(
    ("earlier", "later", "outcome"),
    [
        ("I prefer light mode", "Actually, I prefer dark mode now", "superseded"),
        ("We use PostgreSQL 14", "We use PostgreSQL 15", "superseded"),
        ("I live in Berlin", "I moved to Hamburg last month", "superseded"),
        ("I drive a Tesla", "I'm allergic to nuts", "created"),
        ("My sister is diabetic", "I am diabetic", "created"),
        ("I'm allergic to peanuts", "I am allergic to peanuts!", "unchanged"),
    ],
)
def test_reconciling_understands_the_statements(earlier: str, later: str, outcome: str) -> None:
    (old,), (new,) = contents(earlier), contents(later)
    kind = MemoryType.SEMANTIC
    assert reconcile(Statement(new, kind), [Candidate("old", old, kind, 0.85)]).outcome == outcome
