import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from recollect.chunks import answer_bytes
from recollect.model import SOURCE_MAX_COUNT, Source
from recollect.schemas.outputs import memory_output

from tests.support.builders import memory

TEXTS = st.text(st.sampled_from('"\\\n\x01/a我😀'), min_size=1, max_size=200)


@given(TEXTS, TEXTS, st.lists(TEXTS, max_size=3), st.dictionaries(TEXTS, TEXTS | st.lists(TEXTS), max_size=4))
def test_a_memory_takes_no_more_of_a_functions_answer_than_is_counted(
    content: str, actor: str, tags: list[str], metadata: dict[str, Any]
) -> None:
    metadata_json = json.dumps(metadata, ensure_ascii=False)
    sources = (Source("7ZZZZZZZZZZZZZZZZZZZZZZZZZ", 2**32 - 1, 2**32 - 1),) * SOURCE_MAX_COUNT
    one = memory(
        content * 100, actor=actor, agent_id=actor, tags=tuple(tags), metadata_json=metadata_json, sources=sources
    )

    body = memory_output("ana", one).model_dump_json()

    answer = json.dumps({"body": body}, ensure_ascii=False)
    assert len(answer.encode()) <= answer_bytes(one)
