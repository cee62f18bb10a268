"""A text as the words that the rules read: contractions written out, one way of writing for what has several.

Pure.
"""

import re
import unicodedata

from recollect.reconciling import lexicon, numbers, phrases

_TOKEN = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?://\S+|\d{4}-\d{2}-\d{2}|\d{1,2}:\d{2}(?::\d{2})?|\d+(?:-\d+)+"
    r"|(?<![\w])[-\u2212](?=\d)\d+(?:[.,]\d+)*"
    r"|\d+(?:st|nd|rd|th)\b|\d+(?:[.,]\d+)*|[€$£¥%°]|'s\b|[^\W\d_]\w*(?:[-./_]\w+)*(?:\+\+|\#)?|[:,;]|[<>=\u2190-\u21ff\u2264\u2265\u2600-\u27bf\U0001f000-\U0001faff]"
)
_CONTRACTIONS = tuple(
    (re.compile(pattern, re.IGNORECASE), by)
    for pattern, by in (
        (r"\bcan't\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"n't\b", " not"),
        (r"\b(i)'m\b", r"\1 am"),
        (r"'(?:re)\b", " are"),
        (r"'ve\b", " have"),
        (r"'ll\b", " will"),
        (rf"\b({'|'.join(sorted(lexicon.ELISIONS))})'(?=\w)", r"\1 "),
        (r"\b(?:(?:does|do|did) )?not ever\b", "never"),
        (r"\b(?:every|each) day\b", "daily"),
        (r"\b(?:every|each) ((?:mon|tues|wednes|thurs|fri|satur|sun)day)\b", r"\1s"),
        (r"\bjeden ((?:mon|diens|donners|frei|sams|sonn)tag|mittwoch)\b", r"\1s"),
        (
            r"\b(?:todos los|todas las|todas as|tous les|tutti i|cada|chaque|toda)(?= (?:lun|mar|mié|mer|jue|jeu|gio|vie|ven|sáb|sab|sam|dom|dim|seg|ter|qua|qui|sex))",
            "",
        ),
        (r"(?<=\d) (?:o'clock )?in the morning\b", " am"),
        (r"(?<=\d) (?:o'clock )?(?:in the (?:afternoon|evening)|at night)\b", " pm"),
        (r"\b(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve) (?:o'clock )?in the morning\b", r"\1 am"),
        (r"\b(\d{1,2}) o'clock\b", r"\1:00"),
        (r"\brather than\b", "over"),
        (r"\bhalf of\b", "50% of"),
        (r"\btwice\b", "2 times"),
        (
            r"\ban? (?=(?:second|minute|hour|day|week|month|year) (?:before|after|ahead|ago|earlier|later|early)\b)",
            "1 ",
        ),
        (r"(?<=\w)-years?-old\b", " years"),
        (rf"\b({'|'.join(numbers.WRITTEN)})-(?=[a-z])", r"\1 "),
        (r"\b(\d+)x\b(?=\s)", r"\1 times"),
        (r"(?<=\d)-(?=[a-z]{3})", " "),
        (r"\bin the year (?=\d)", "in "),
        (r"\bturned (?=\d+\b(?!\s*(?:st|nd|rd|th|in|into)))(\d+)", r"is \1 years"),
        (r"\bused to\b", "formerly"),
    )
)


def unified(text: str) -> str:
    """Write out contractions, and write times, ages and days that recur in one way."""
    found = unicodedata.normalize("NFKC", text).replace("\u2019", "'")
    for pattern, by in _CONTRACTIONS:
        found = pattern.sub(by, found)
    return found


def words_of(text: str) -> list[str]:
    """Take a unified text apart into words, amounts and signs, groups of words folded into what they stand for."""
    return phrases.fold(_TOKEN.findall(text))
