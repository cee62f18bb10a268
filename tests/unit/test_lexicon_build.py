import hashlib
import io
import tarfile
from pathlib import Path

import numpy as np
import pytest

from layers.lexicon import build, wordnet

# offset, lexicographer's file, part of speech, words with ids, pointers, definition
NOUNS = """\
  1 a line of the licence, which is left out
00000100 05 n 01 animal 0 000 | a living organism that moves
00000200 05 n 02 dog 0 hound 0 001 @ 00000100 n 0000 | a tame animal that barks; "the dog barked"
00000300 05 n 01 cat 0 001 @ 00000100 n 0000 | a tame animal that purrs
00000400 18 n 01 vegetarian 0 001 @ 00000100 n 0000 | an eater of plants; someone who eats no animal; not a cook
00000500 15 n 01 Oslo 0 000 | the capital of Norway
00000600 18 n 01 Einstein 0 000 | a physicist
00000700 18 n 01 dancer 0 001 + 00000100 v 0101 | one who dances
"""
VERBS = """\
00000100 30 v 01 dance 0 001 + 00000700 n 0101 01 + 02 00 | move to music
00000200 30 v 01 dog 0 000 01 + 02 00 | follow closely
"""
ADJECTIVES = """\
00000100 00 a 01 early 0 001 ! 00000200 a 0101 | before the usual time
00000200 00 a 01 late 0 002 ! 00000100 a 0101 & 00000300 s 0000 | after the usual time
00000300 00 s 01 tardy 0 001 & 00000200 a 0000 | later than is usual
"""
INDEX = """\
animal%1:05:00:: 00000100 1 9
cat%1:05:00:: 00000300 1 9
dancer%1:18:00:: 00000700 1 2
dance%2:30:00:: 00000100 1 5
dog%1:05:00:: 00000200 1 40
dog%2:30:00:: 00000200 1 0
early%3:00:00:: 00000100 1 5
einstein%1:18:00:: 00000600 1 0
hound%1:05:00:: 00000200 1 1
late%3:00:00:: 00000200 1 5
oslo%1:15:00:: 00000500 1 0
tardy%5:00:00:late:00 00000300 1 0
vegetarian%1:18:00:: 00000400 1 1
"""
FILES = {"data.noun": NOUNS, "data.verb": VERBS, "data.adj": ADJECTIVES, "data.adv": "", "index.sense": INDEX}
IRREGULAR = {"kine": "cow", "dogges": "dog", "early-bird": "early"}


def row(arrays: build.Arrays, name: str, number: int) -> list[int]:
    at = arrays[f"{name}_at"]
    return [int(value) for value in arrays[name][int(at[number]) : int(at[number + 1])]]


@pytest.fixture
def arrays() -> build.Arrays:
    return build.arrays(wordnet.read(FILES), IRREGULAR)


@pytest.fixture
def numbers(arrays: build.Arrays) -> dict[str, int]:
    return {bytes(word).decode(): number for number, word in enumerate(arrays["words"].tolist())}


def meaning(arrays: build.Arrays, number: int) -> int:
    return row(arrays, "senses", number)[0]


def test_words_are_sorted_and_names_stay_only_for_places_and_languages(arrays: build.Arrays) -> None:
    words = [bytes(word).decode() for word in arrays["words"].tolist()]

    assert words == sorted(words)
    assert "oslo" in words
    assert "einstein" not in words


def test_synonyms_share_a_meaning_that_lies_below_the_broader_one(
    arrays: build.Arrays, numbers: dict[str, int]
) -> None:
    dog, hound, animal = (meaning(arrays, numbers[word]) for word in ("dog", "hound", "animal"))

    assert dog == hound
    assert row(arrays, "broader", dog) == [animal]


def test_what_a_word_is_only_seldom_is_left_out(arrays: build.Arrays, numbers: dict[str, int]) -> None:
    assert len(row(arrays, "senses", numbers["dog"])) == 1  # no verb, which 1 of 42 uses is


def test_words_are_related_both_ways(arrays: build.Arrays, numbers: dict[str, int]) -> None:
    assert row(arrays, "derived", numbers["dance"]) == [numbers["dancer"]]
    assert row(arrays, "derived", numbers["dancer"]) == [numbers["dance"]]
    assert row(arrays, "opposite", numbers["early"]) == [numbers["late"]]
    assert row(arrays, "near", meaning(arrays, numbers["tardy"])) == [meaning(arrays, numbers["late"])]


def test_a_definition_says_its_words_and_denies_those_behind_a_denial_up_to_the_semicolon(
    arrays: build.Arrays, numbers: dict[str, int]
) -> None:
    vegetarian = meaning(arrays, numbers["vegetarian"])

    assert numbers["animal"] in row(arrays, "denied", vegetarian)
    assert numbers["animal"] not in row(arrays, "said", vegetarian)
    assert numbers["animal"] in row(arrays, "said", meaning(arrays, numbers["dog"]))


def test_irregular_forms_lead_to_words_that_are_used(arrays: build.Arrays, numbers: dict[str, int]) -> None:
    forms = dict(zip(arrays["forms"].tolist(), arrays["form_words"].tolist(), strict=True))

    assert forms == {b"dogges": numbers["dog"], b"early-bird": numbers["early"]}


def packed(**files: bytes) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as tar:
        for name, value in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(value)
            tar.addfile(entry, io.BytesIO(value))
    return content.getvalue()


@pytest.fixture
def package() -> bytes:
    inner = packed(**{f"dict/{name}": text.encode() for name, text in FILES.items()})
    lists = {f"package/data/{part}.exc": b"dogges dog\n" for part in ("noun", "verb")}
    return packed(**{"package/WNdb-3.0.tar.gz": inner, "package/LICENSE": b"free to use", **lists})


def test_the_same_package_gives_the_same_bytes_with_its_licence(package: bytes) -> None:
    files = build.package_files(package)

    assert files == build.package_files(package)
    assert files["LICENSE-wordnet"] == b"free to use"
    assert np.load(io.BytesIO(files["words.npy"]))[0] == b"animal"


def test_a_layer_is_built_once_from_the_pinned_package(
    package: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin = tmp_path / "package.txt"
    pin.write_text(f"some-words@1.0 sha256:{hashlib.sha256(package).hexdigest()}\n")
    monkeypatch.setattr(build, "PIN", pin)
    cached = tmp_path / "some-words-1.0.tgz"
    cached.write_bytes(package)

    build.build(tmp_path / "layer", tmp_path)
    cached.unlink()
    build.build(tmp_path / "layer", tmp_path)

    assert (tmp_path / "layer/python/recollect_lexicon/words.npy").is_file()


def test_another_package_than_the_pinned_one_is_refused(
    package: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin = tmp_path / "package.txt"
    pin.write_text(f"some-words@1.0 sha256:{hashlib.sha256(b'another').hexdigest()}\n")
    monkeypatch.setattr(build, "PIN", pin)
    (tmp_path / "some-words-1.0.tgz").write_bytes(package)

    with pytest.raises(SystemExit, match="not the file that is pinned"):
        build.build(tmp_path / "layer", tmp_path)

    assert not (tmp_path / "layer").exists()
