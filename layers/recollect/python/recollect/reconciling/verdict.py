"""What a new statement means beside one close memory: rules in order, the first that applies decides.

Pure. Cosine never retires a memory: it only tells "close and unsure" from "something else".
"""

from collections import Counter
from collections.abc import Callable

from recollect.model import CONTENT_MAX_CHARS, MemoryType
from recollect.reconciling import attributes, changes, merging, procedures, reworded, slots, wholes
from recollect.reconciling.actions import have_one_action
from recollect.reconciling.aligning import narrower
from recollect.reconciling.antonyms import are_complements, exclude_each_other
from recollect.reconciling.matching import Alignment
from recollect.reconciling.pair import Candidate, Finding, Pair, Statement, scope
from recollect.reconciling.paraphrase import are_details, keeps_roles
from recollect.reconciling.reading import read
from recollect.reconciling.sentences import holds, sentences
from recollect.reconciling.slots import Effect
from recollect.reconciling.subjects import Subjects, compare
from recollect.reconciling.tokens import Reading, Token
from recollect.reconciling.wordlists import words

RULED_MAX_CHARS = 1_000
LONG_CLOSE_MIN_COSINE = 0.9
PREFERENCE_MIN_COSINE = 0.65  # below it two preferences need not be about the same choice
LOOSE_MIN_COSINE = 0.75
LOOSE_MAX_PAIRS = 2
DETAIL_MIN_COSINE = 0.8
_CLAUSES = words("and but because und aber weil et mais y pero e mas ma , ;")


def judge(new: Statement, reading: Reading, candidate: Candidate) -> Finding:
    """Decide what a new statement, which is read once for all, means beside one memory."""
    finding = scope(new, candidate)
    if finding is not None:
        return finding
    if max(len(new.content), len(candidate.content)) > RULED_MAX_CHARS:
        return _long(new, candidate)
    is_procedure = new.type is MemoryType.PROCEDURAL
    pair = Pair.of(read(candidate.content), reading, candidate.cosine, is_procedure=is_procedure)
    finding = next(found for rule in _RULES if (found := rule(pair)) is not None)
    if finding.outcome == "superseded" and new.type is MemoryType.EPISODIC:
        return Finding("conflict", f"two accounts of one episode: {finding.reason}")
    if finding.content is not None and len(finding.content) > CONTENT_MAX_CHARS:
        return Finding("conflict", "the two together would be longer than a memory may be")
    return finding


def _long(new: Statement, candidate: Candidate) -> Finding:
    # The rules are made for statements, not for documents; whole sentences can be compared in any.
    if holds(candidate.content, new.content):
        return Finding("unchanged", "every sentence is known")
    if holds(new.content, candidate.content):
        return Finding("merged", "says the same and more sentences", new.content)
    is_close = candidate.cosine >= LONG_CLOSE_MIN_COSINE
    return Finding("conflict" if is_close else "created", "too long for the rules")


def paraphrase(pair: Pair) -> Finding | None:
    """Find the same content in other words and another order."""
    old, new = pair.old, pair.new
    if old.is_negative != new.is_negative or pair.has_other_tense or wholes.has_several(pair):
        return None
    if pair.aligned.pairs and not pair.aligned.old and not pair.aligned.new and keeps_roles(pair, pair.aligned):
        return Finding("unchanged", "the same in other words")
    return _loose_paraphrase(pair)


def _loose_paraphrase(pair: Pair) -> Finding | None:
    left = len(pair.aligned.old), len(pair.aligned.new)
    if pair.new.is_marked and not pair.old.is_marked:  # "is normal again"
        return None
    if pair.cosine < LOOSE_MIN_COSINE or min(left) > 2 * LOOSE_MAX_PAIRS:
        return None
    found = pair.loosely_aligned
    if (
        not found.pairs
        or (found.old and found.new)
        or len(found.pairs) - len(pair.aligned.pairs) > LOOSE_MAX_PAIRS
        or not keeps_roles(pair, found)
    ):
        return None
    if not found.old and not found.new:
        return _said_again(pair, found)
    if pair.cosine < DETAIL_MIN_COSINE or not are_details(pair, found):
        return None
    if found.old:
        return Finding("unchanged", "already known with more detail")
    return Finding("merged", "says the same with more detail", pair.new.text)


def _said_again(pair: Pair, found: Alignment) -> Finding:
    # "works as a doctor", "works as a surgeon"
    is_old, is_new = narrower(pair.old, pair.new, pair.aligned, found)
    if not is_new:
        return Finding("unchanged", "the same in other words, by what they say")
    content = merging.joined(pair.old.text, pair.new.text) if is_old else pair.new.text
    return Finding("merged", "says the same in words that say more", content)


def other_value(pair: Pair) -> Finding | None:
    """Find another value of the same attribute, told in other words."""
    if wholes.has_several(pair):
        return None
    found = reworded.other_value(pair)
    return None if found is None else Finding("superseded", f"the same, {found[0]} became {found[1]}")


def change(pair: Pair) -> Finding | None:
    """Find what a change that the new statement tells of makes of the old one."""
    if max(len(sentences(pair.old.text)), 1) > 1:
        return None
    found = _superseded(pair, attributes.one_attribute) or changes.moved(pair) or changes.excluded(pair)
    if found is not None or not pair.has_common_words:
        return found
    found = changes.is_over(pair.old, pair.new) or changes.given_up(pair) or changes.other_value(pair)
    if found is not None:
        return found
    clauses = changes.clauses(pair)
    for clause in clauses:
        found = changes.is_over(pair.old, clause)
        if found is None and len(clauses) > 1 and not pair.is_procedure:
            found = _of_clause(Pair.of(pair.old, clause, pair.cosine, is_procedure=False))
        if found is not None:
            return found
    return None


def _of_clause(pair: Pair) -> Finding | None:
    if any(token.key in _CLAUSES for token in pair.old.tokens):
        return None
    rules = attributes.one_attribute, one_slot, changes.other_value
    return next((found for rule in rules if (found := _superseded(pair, rule)) is not None), None)


def _superseded(pair: Pair, rule: Callable[[Pair], Finding | None]) -> Finding | None:
    found = rule(pair)
    return found if found is not None and found.outcome == "superseded" else None


def other_procedure(pair: Pair) -> Finding | None:
    """Keep procedures with different goals apart: steps are compared only for one goal."""
    if pair.is_procedure and procedures.are_different(pair.old, pair.new):
        return pair.apart("a procedure for something else")
    return None


def negation(pair: Pair) -> Finding | None:
    """Find a statement and its denial."""
    old, new = pair.old, pair.new
    if old.is_negative == new.is_negative:
        return None
    if compare(old, new) is Subjects.DIFFERENT:
        return pair.apart("about somebody or something else")
    if old.intents != new.intents:
        return pair.unsure("one is a wish or a guess")
    if changes.is_double(old) != changes.is_double(new):
        return pair.unsure("one denies twice")
    denied = "no longer so" if new.has_ended or old.has_ended else "one affirms what the other denies"
    missing = _without(old, "have") - _without(new, "have")
    extra = _without(new, "have") - _without(old, "have")
    if not missing and not extra and not merging.is_swapped(old, new):
        return Finding("superseded", f"same statement, {denied}")
    if new.has_ended and not missing and len(old.strong) >= 2:
        return Finding("superseded", f"same statement with detail, {denied}")
    if missing.total() == extra.total() == 1:
        (one,), (other,) = missing, extra
        if are_complements(one, other):
            return Finding("unchanged", f"not '{one}' says the same as '{other}'")
        if merging.are_akin(one, other):
            return Finding("superseded", f"same statement, {denied}")
    return pair.unsure(f"{denied}, in other words")


def _without(reading: Reading, key: str) -> Counter[str]:
    bag = reading.bag
    del bag[key]
    return bag


def other_action(pair: Pair) -> Finding | None:
    """Keep apart what is going on ("is eating") from what else is going on or is so."""
    if have_one_action(pair.old, pair.new):
        return None
    if compare(pair.old, pair.new) is Subjects.DIFFERENT:
        return pair.apart("about somebody or something else")
    return pair.unsure("they tell of different actions")


def same_content(pair: Pair) -> Finding | None:
    """Find the same content words, in whatever order says the same."""
    old, new = pair.old, pair.new
    if not merging.is_same_content(old, new) or merging.links_disagree(old, new):
        return None
    if pair.has_other_tense:
        return pair.unsure("one tells of the past or of a wish, the other does not")
    if _is_comparison_turned(pair):
        return Finding("superseded", "the same comparison the other way round")
    return Finding("conflict", "the same words with their roles exchanged")


def _is_comparison_turned(pair: Pair) -> bool:
    orders = [[t.key for t in r.strong] for r in (pair.old, pair.new)]
    compares = (
        "than" in {t.key for t in r.tokens} or ("over" in {t.key for t in r.tokens} and r.verb == "prefer")
        for r in (pair.old, pair.new)
    )
    return orders[0] != orders[1] and all(compares)


def other_subject(pair: Pair) -> Finding | None:
    """Keep statements about different subjects apart, unless they name who fills one role."""
    if pair.is_procedure or compare(pair.old, pair.new) is not Subjects.DIFFERENT:
        return None
    slot = slots.slot_of(pair.old, pair.new)
    if slot is not None and slots.role_change(slot, pair.old, pair.new):
        return Finding("superseded", f"one person fills this role: {_words(slot.old)} became {_words(slot.new)}")
    return pair.apart("about somebody or something else")


def other_tense(pair: Pair) -> Finding | None:
    """Keep what was, or is wished for, apart from what is."""
    if pair.has_other_tense and attributes.attribute_of(pair.new) is None:
        return pair.unsure("one tells of the past or of a wish, the other does not")
    return None


def detail(pair: Pair) -> Finding | None:
    """Find that one says all that the other says."""
    if pair.old.is_past != pair.new.is_past or (pair.new.is_marked and not pair.old.is_marked):
        return None
    if merging.adds_only_detail(pair.old, pair.new):
        return Finding("merged", "says the same with more detail", pair.new.text)
    if merging.adds_only_detail(pair.new, pair.old):
        return Finding("unchanged", "already known with more detail")
    if pair.old.bag == pair.new.bag:
        return None
    if not (pair.old.bag - pair.new.bag) or not (pair.new.bag - pair.old.bag):
        return pair.unsure("one has all words of the other and may be about something else")
    return None


def one_slot(pair: Pair) -> Finding | None:
    """Find the same shape with another value in one place."""
    slot = slots.slot_of(pair.old, pair.unified)
    if slot is None:
        return None
    if pair.is_procedure:
        return _changed_step(pair, slot)
    about = min(pair.old.head, pair.new.head)
    if slot.start < about and pair.new.verb:
        if slots.role_change(slot, pair.old, pair.new):
            return Finding("superseded", f"one person fills this role: {_words(slot.old)} became {_words(slot.new)}")
        return pair.apart("about somebody or something else")
    effect, reason = slots.effect_of(slot, pair.old, pair.new)
    if effect is Effect.REPLACES and pair.new.verb == "prefer" and pair.cosine < PREFERENCE_MIN_COSINE:
        return pair.unsure(f"{reason}, perhaps preferences in different things")
    if effect is Effect.REPLACES and compare(pair.old, pair.new) is not Subjects.DIFFERENT:
        return Finding("superseded", reason)
    return Finding("created", reason) if effect is Effect.COEXISTS else pair.unsure(reason)


def _changed_step(pair: Pair, slot: slots.Slot) -> Finding:
    changed = f"{_words(slot.old)} became {_words(slot.new)}"
    kinds = slots.kind_of(slot.old), slots.kind_of(slot.new)
    is_value = kinds[0] == kinds[1] and kinds[0] != "text"
    is_opposite = len(slot.old) == len(slot.new) == 1 and exclude_each_other(slot.old[0], slot.new[0])
    if not is_value and slots.effect_of(slot, pair.old, pair.new)[0] is Effect.REPLACES:
        return Finding("superseded", f"same procedure, step changed: {changed}")
    is_corrected = pair.new.is_marked and len(slot.old) == len(slot.new) == 1
    if procedures.have_one_goal(pair.old, pair.new) or is_value or is_opposite or is_corrected:
        return Finding("superseded", f"same procedure, step changed: {changed}")
    return pair.unsure(f"perhaps the same procedure: {changed}")


def otherwise(pair: Pair) -> Finding | None:
    """Leave both when no rule is sure."""
    return pair.unsure("close, and no rule is sure") if pair.is_close else Finding("created", "nothing close says this")


def _words(tokens: tuple[Token, ...]) -> str:
    return " ".join(token.text for token in tokens)


_RULES: tuple[Callable[[Pair], Finding | None], ...] = (
    wholes.same_letters,
    wholes.known_sentences,
    wholes.unknown_language,
    paraphrase,
    change,
    other_value,
    wholes.several_sentences,
    other_procedure,
    negation,
    other_action,
    same_content,
    other_subject,
    other_tense,
    detail,
    attributes.one_attribute,
    one_slot,
    otherwise,
)
