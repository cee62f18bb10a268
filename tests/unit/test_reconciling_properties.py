import re
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from recollect.model import MemoryType
from recollect.reconcile import NOMINATION_MIN_COSINE, Candidate, Statement, reconcile
from recollect.reconciling.reading import read
from recollect.reconciling.tokens import Kind

from tests.eval import reconcile as evaluation

FILES = Path(__file__).parents[1] / "eval" / "pairs"
TUNED = {name: evaluation.load(FILES / f"{name}.tsv") for name in ("tune", "third")}
PAIRS = (*TUNED["tune"], *TUNED["third"])
sentences = st.sampled_from([text for pair in PAIRS for text in (pair.first, pair.second)])
WORDS = (
    *("I", "the", "user", "my", "sister", "Ana", "Bob", "lives", "in", "Rome", "Oslo", "has", "2", "3", "kg", "dogs"),
    *("not", "no", "longer", "and", "to", "is", "5", "pm", "May", "works", "at", ",", "."),
)
words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join)
texts = st.one_of(sentences, words, st.text(min_size=1, max_size=60))
types = st.sampled_from(list(MemoryType))
cosines = st.floats(NOMINATION_MIN_COSINE, 1)


@given(texts, types, cosines)
def test_the_same_text_never_retires_itself(text: str, kind: MemoryType, cosine: float) -> None:
    verdict = reconcile(Statement(text, kind), [Candidate("old", text, kind, cosine)])
    assert verdict.outcome not in {"superseded", "merged"}
    assert verdict.outcome == "unchanged" or not any(c.isalnum() for c in text)


@given(texts, st.lists(st.tuples(texts, cosines), max_size=6), types)
def test_a_verdict_depends_on_no_order_and_names_a_candidate(
    text: str, others: list[tuple[str, float]], kind: MemoryType
) -> None:
    candidates = [Candidate(f"m{i}", other, kind, cosine) for i, (other, cosine) in enumerate(others)]
    verdict = reconcile(Statement(text, kind), candidates)
    assert verdict == reconcile(Statement(text, kind), candidates[::-1])
    assert (
        verdict.target is None if verdict.outcome == "created" else verdict.target in {c.memory_id for c in candidates}
    )
    assert (verdict.content is not None) == (verdict.outcome == "merged")


@settings(max_examples=300)
@given(texts, texts)
def test_merged_content_holds_every_number_and_name(old: str, new: str) -> None:
    kind = MemoryType.SEMANTIC
    verdict = reconcile(Statement(new, kind), [Candidate("old", old, kind, 0.9)])
    if verdict.content is not None:
        held = set(read(verdict.content).bag)
        for token in (*read(old).tokens, *read(new).tokens):
            if token.kind in (Kind.NAME, Kind.NUMBER, Kind.DATE):
                assert token.key in held


@given(st.sampled_from([text for pair in PAIRS for text in (pair.first, pair.second)]), st.data())
def test_another_number_or_name_never_says_the_same(text: str, data: st.DataObject) -> None:
    rest = text.partition(" ")[2]
    words = [word for word in re.findall(r"\b(?:[A-Z][a-z]{2,}|\d+)\b", rest) if word not in {"The", "Uhr", "City"}]
    assume(words)
    word = data.draw(st.sampled_from(words))
    other = str(int(word) + 1).zfill(len(word)) if word.isdecimal() else "Qarnel"
    verdict = reconcile(
        Statement(re.sub(rf"\b{word}\b", other, text), MemoryType.SEMANTIC),
        [Candidate("old", text, MemoryType.SEMANTIC, 0.95)],
    )
    assert verdict.outcome not in {"unchanged", "merged"}


@pytest.mark.parametrize("name", TUNED)
def test_the_rates_hold_on_the_pairs_that_the_rules_were_tuned_on(name: str) -> None:  # case M8
    rates = evaluation.rates([evaluation.judge_one(pair, 0.85) for pair in TUNED[name]])
    assert rates["false_supersession_rate"] <= 0.01
    assert rates["false_merge_rate"] <= 0.01
    assert rates["duplicate_recall"] >= 0.90
    assert rates["update_recall"] >= 0.70
