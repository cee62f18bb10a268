"""What a model is asked for: a versioned prompt and the one tool that it answers with."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Task:
    """One kind of question to a model.

    Parameters
    ----------
    name : str
        Names the file of the prompt, with its version, such as ``extract-1``.
    system : str
        The prompt: what to do, apart from what to do it with.
    tool : str
        Name of the tool whose call is the answer.
    schema : dict
        JSON schema of the tool's arguments; without references, which not all models follow.
    """

    name: str
    system: str
    tool: str
    schema: Schema


def load(name: str, tool: str, arguments: type[BaseModel]) -> Task:
    """Load a task from the file of its prompt, beside this one."""
    system = Path(__file__).with_name(f"{name}.md").read_text(encoding="utf-8")
    described = arguments.model_json_schema()
    return Task(name, system, tool, _plain(described, described.get("$defs", {})))


def _plain(schema: Schema, definitions: Schema) -> Schema:
    """Write references out, leave notes out, and let ``null`` be said by leaving out."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        schema = next(choice for choice in schema["anyOf"] if choice.get("type") != "null")
    plain = {key: value for key, value in schema.items() if key not in _NOTES}
    if "properties" in plain:
        plain["properties"] = {name: _plain(value, definitions) for name, value in plain["properties"].items()}
    if "items" in plain:
        plain["items"] = _plain(plain["items"], definitions)
    return plain


_NOTES = frozenset({"$defs", "title", "description", "default", "examples"})
