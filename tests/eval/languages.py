"""Evaluates search in other languages: one person's memories, and questions about them, in six languages.

The contents are the same in each, so that languages compare: English, German, Spanish, French, Portuguese, and
Japanese, which is written in three scripts and without spaces. Memories are asked about in their own language and
in English. They are made up for this purpose; `languages.json` has each in all languages, side by side.

What it shows of the default embedder, all-MiniLM-L6-v2, is that it was made for English. In German, Spanish, French
and Portuguese its vectors find no more than words do; in Japanese they find little, and words find most. Questions in
English find memories in another language every second time at best.

Who stores memories in other languages chooses a model that knows them when deploying::

    -c embedder=bedrock -c bedrock_model_id=cohere.embed-multilingual-v3 -c bedrock_dimension=1024
    -c embedder=bedrock -c bedrock_model_id=amazon.titan-embed-text-v2:0 -c bedrock_dimension=512

That may be done later too. Vectors of two models are never compared: until maintenance has embedded what is there anew
it is found by its words, and answers say ``degraded``. Bedrock cannot be asked from here; in its place a small
multilingual model can be measured on the same texts (``make eval MULTILINGUAL=1``, see `elsewhere`).
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from recollect.answers import SearchQuery
from recollect.commit import Request
from recollect.controller import MemoryController
from recollect.model import MemoryType, NewMemory
from recollect.nominating import ToStore
from recollect.ports import Embedder
from recollect.ranking import Mode

from tests.eval.metrics import RANKS, interval, measures
from tests.eval.run import Remembering, controller_of

ENGLISH = "en"
MODES = (Mode.LEXICAL, Mode.SEMANTIC, Mode.HYBRID)
USER = "clara"

Text = Mapping[str, str]  # language to wording


@dataclass(frozen=True, slots=True)
class Question:
    """One question in every language, and the names of the memories that answer it, at least one."""

    text: Text
    answers: frozenset[str]


@dataclass(frozen=True, slots=True)
class Life:
    """What is remembered, by name, and what is asked; everything in every language."""

    languages: tuple[str, ...]
    memories: Mapping[str, Text]
    questions: tuple[Question, ...]

    @property
    def wordings(self) -> list[str]:
        """All texts in all languages."""
        texts = [*self.memories.values(), *(question.text for question in self.questions)]
        return [text[language] for text in texts for language in self.languages]


def load(path: Path) -> Life:
    """Read memories and questions.

    Raises
    ------
    ValueError
        If a text is missing in a language, or a question names a memory that is not there.
    """
    data = json.loads(path.read_text(encoding="utf-8"))
    memories: dict[str, Text] = data["memories"]
    languages = tuple(next(iter(memories.values())))
    questions = []
    for entry in data["questions"]:
        answers = frozenset(entry.pop("answers"))
        if not answers or not answers <= memories.keys():
            raise ValueError(f"{path} has a question without known answers: {entry}")
        questions.append(Question(entry, answers))
    for text in (*memories.values(), *(question.text for question in questions)):
        if tuple(text) != languages or not all(text.values()):
            raise ValueError(f"{path} has a text that is not in {', '.join(languages)}: {text}")
    return Life(languages, memories, tuple(questions))


def figures(life: Life, embedder: Embedder, part: str = "languages") -> dict[str, float]:
    """Store the memories of each language for a user of its own, ask all questions, and summarise.

    Returns
    -------
    dict of str to float
        ``<part>.<language>.<mode>.<measure>`` of recall@5, with its 95 % interval (``.low``, ``.high``), and MRR;
        ``<part>.<language>.asked_in_en.…`` the same for questions in English; ``<part>.<language>.created_rate``:
        of these memories, each of which is about something else, how many were stored without a relation to others.
    """
    remembering = Remembering(embedder)
    remembering.embed(life.wordings)
    found: dict[str, float] = {}
    for language in life.languages:
        controller = controller_of(remembering)
        memory_of, found[f"{part}.{language}.created_rate"] = _store(controller, life, language)
        for asked_in in dict.fromkeys((language, ENGLISH)):
            group = f"{part}.{language}" if asked_in == language else f"{part}.{language}.asked_in_{asked_in}"
            for mode in MODES:
                measured = list(_ask(controller, life, memory_of, asked_in, mode))
                found |= {f"{group}.{mode}.{name}": value for name, value in _summary(measured).items()}
    return found


def _store(controller: MemoryController, life: Life, language: str) -> tuple[dict[str, str], float]:
    texts = [text[language] for text in life.memories.values()]
    memories = [ToStore(NewMemory(content=text, type=MemoryType.SEMANTIC)) for text in texts]
    outcomes = controller.store(Request(user_id=USER, by="eval"), memories)
    created = sum(done.outcome == "created" for done in outcomes)
    return {name: done.memory_id for name, done in zip(life.memories, outcomes, strict=True)}, created / len(memories)


def _ask(
    controller: MemoryController, life: Life, memory_of: Mapping[str, str], language: str, mode: Mode
) -> Iterator[dict[str, float]]:
    for question in life.questions:
        query = SearchQuery(text=question.text[language], k=RANKS, mode=mode, reinforces=False)
        ranking = [hit.memory.memory_id for hit in controller.search(USER, query).hits]
        yield measures(ranking, {memory_of[name] for name in question.answers})


def _summary(measured: list[dict[str, float]]) -> dict[str, float]:
    recalls = [one["recall_at_5"] for one in measured]
    low, high = interval(recalls)
    return {
        "recall_at_5": sum(recalls) / len(recalls),
        "recall_at_5.low": low,
        "recall_at_5.high": high,
        "mrr": sum(one["mrr"] for one in measured) / len(measured),
    }


def shown(found: Mapping[str, float]) -> str:
    """Lay out figures: one line for each language and language of its questions."""
    groups = [name.removesuffix(f".{MODES[0]}.mrr") for name in found if name.endswith(f".{MODES[0]}.mrr")]
    width = max(map(len, groups))
    heads = "".join(f"{f'{mode}: recall@5 (95 %)':>32}{'MRR':>7}" for mode in MODES)
    return "\n".join([f"{'':<{width}}{heads}", *(f"{group:<{width}}{_cells(found, group)}" for group in groups)])


def _cells(found: Mapping[str, float], group: str) -> str:
    cells = []
    for mode in MODES:
        recall, low, high = (found[f"{group}.{mode}.recall_at_5{end}"] for end in ("", ".low", ".high"))
        mrr = found[f"{group}.{mode}.mrr"]
        cells.append(f"{f'{recall:.3f} ({low:.2f} to {high:.2f})':>32}{mrr:>7.3f}")
    return "".join(cells)
