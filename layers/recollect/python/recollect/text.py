"""What a text is, before any storage: blank or not, its normal form, its terms.

Pure and Unicode-aware. Two texts with one normal form are the same statement, letter for letter; the terms are
what lexical search counts. Terms are kept as 32-bit hashes, so that an index holds numbers only.
"""

import hashlib
import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator

_MARKS = (  # combining marks that stand inside words, which \w leaves out
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0963\u0966-\u0dff\u0f71-\u0f84\u200c\u200d"
)
_WORD = re.compile(rf"[\w{_MARKS}]+")
_CJK = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
    "\U00020000-\U0003ffff]+"
)
_QUESTION_WORDS = tuple(  # English; German; Spanish, French, Portuguese and Italian: without names and words of others
    frozenset(of_one.split())
    for of_one in (
        "what when where who whom whose which why how do does did is are was were be been has have had can could would"
        " should will",
        "wer wem wessen wann wo wohin woher warum wieso weshalb wie welche welcher welches welchen welchem",
        "qué que quién quiénes quien quienes cuándo cuando dónde donde adónde cuál cuáles cual cuales cómo"
        " cuánto cuánta cuántos cuántas cuanto cuanta cuantos cuantas qui quoi quand où pourquoi combien"
        " quel quelle quels quelles lequel laquelle quem qual quais onde aonde quando quanto quanta quantos quantas"
        " quale quali quanti quante perché",
    )
)
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")
ASKING = zlib.crc32(b"?")  # the term of texts that ask something
_IRREGULAR = {  # forms of English words that no ending tells, to the form that they are counted as
    form: forms.split()[0]
    for forms in (
        *("become became", "begin began begun", "bend bent", "bite bit bitten"),
        *("blow blew blown", "break broke broken", "bring brought", "build built", "buy bought", "catch caught"),
        *("choose chose chosen", "come came", "deal dealt", "dig dug", "draw drew drawn"),
        *("drink drank drunk", "drive drove driven", "eat ate eaten", "fall fell fallen", "feed fed", "feel felt"),
        *("fight fought", "find found", "fly flew flown", "forget forgot forgotten", "freeze froze frozen"),
        *("get got gotten", "give gave given", "go goes went gone", "grow grew grown", "hang hung"),
        *("hear heard", "hide hid hidden", "hold held", "keep kept", "know knew known", "lead led", "learn learnt"),
        *("leave left", "lend lent", "lose lost", "make made", "mean meant", "meet met", "pay paid"),
        *("ride rode ridden", "rise rose risen", "run ran", "say said", "see saw seen", "seek sought", "sell sold"),
        *("send sent", "shake shook shaken", "shoot shot", "show shown", "sing sang sung", "sit sat", "sleep slept"),
        *("speak spoke spoken", "spend spent", "stand stood", "steal stole stolen", "stick stuck", "strike struck"),
        *("sweep swept", "swim swam swum", "take took taken", "teach taught", "tear tore torn", "tell told"),
        *("think thought", "throw threw thrown", "understand understood", "wake woke woken", "wear wore worn"),
        *("win won", "write wrote written", "child children", "foot feet", "knife knives", "leaf leaves"),
        *("life lives", "man men", "mouse mice", "person people", "shelf shelves", "tooth teeth", "wife wives"),
        *("woman women",),
    )
    for form in forms.split()[1:]
}
_INVISIBLE = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})


def is_blank(text: str) -> bool:
    """Tell whether a text has nothing that a reader would see (spaces, controls, zero-width characters)."""
    return all(unicodedata.category(character) in _INVISIBLE for character in text)


def normal_form(text: str) -> str:
    """Reduce a text to what makes it the same statement: NFC, one form of line ends, no white space around it.

    Case, inner spacing and compatibility characters are kept: they carry meaning in code, names and passwords.
    """
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    return unicodedata.normalize("NFC", unified).strip()


def terms(text: str) -> Iterator[str]:
    """Yield the terms of a text in order, with repeats.

    Words are runs of letters, digits and marks after NFKC and case folding. Scripts written without spaces
    (Chinese, Japanese, Korean, Thai, Lao, Burmese, Khmer) yield every character and every pair of neighbours.
    """
    for word in _words(text):
        if not _CJK.search(word):
            yield stem(_IRREGULAR.get(word, word))
            continue
        for run in _CJK.findall(word):
            yield from run
            yield from (run[i : i + 2] for i in range(len(run) - 1))
        yield from (stem(rest) for rest in _CJK.split(word) if rest)


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def stem(word: str) -> str:
    """Take plural, ``-ing``, ``-ed`` and final ``-e`` off a word of English letters; other words stay as they are.

    The result need not be a word; it is only ever compared with other results.
    """
    if not (word.isascii() and word.isalpha()):
        return word
    word = _without_plural(word)
    for ending in ("ing", "ed"):
        if len(word) > len(ending) + 2 and word.endswith(ending):
            word = _without_double(word.removesuffix(ending))
            break
    if len(word) > 3 and word.endswith("e"):
        word = word[:-1]
    return word[:-1] + "i" if len(word) > 3 and word.endswith("y") else word


def _without_plural(word: str) -> str:
    if len(word) > 3 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_double(word: str) -> str:
    return word[:-1] if len(word) > 2 and word[-1] == word[-2] and word[-1] not in "lsz" else word


def term_counts(text: str) -> dict[int, int]:
    """Count the hashed terms of a text; question marks count as `ASKING`.

    Returns
    -------
    dict of int to int
        CRC-32 of the term's UTF-8 bytes, in [0, 2**32), to the number of times it occurs.
    """
    counts = Counter(terms(text))
    counted = {zlib.crc32(term.encode("utf-8", "surrogatepass")): count for term, count in counts.items()}
    marks = sum(map(text.count, _QUESTION_MARKS))
    return counted | {ASKING: marks} if marks else counted


def query_term_counts(query: str) -> dict[int, int]:
    """Count the hashed terms of a query without question words; with them if nothing else is there.

    They would count as rare words, since memories do not ask. Those of the language are left out whose question word
    is first: "WER" is something to look for where "what" asks for it.

    Returns
    -------
    dict of int to int
        As `term_counts`.
    """
    words = _words(query)
    asking = next((of_one for word in words for of_one in _QUESTION_WORDS if word in of_one), frozenset[str]())
    return term_counts(" ".join([word for word in words if word not in asking] or words))


def text_key(text: str) -> int:
    """Give the number that texts with one normal form share, and other texts do not in practice.

    Returns
    -------
    int
        64 bits of BLAKE2b, in [0, 2**64).
    """
    digest = hashlib.blake2b(normal_form(text).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")
