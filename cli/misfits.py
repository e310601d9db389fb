"""What does not fit of an answer that was typed, said at once; whatever asks for the answer checks it whole."""

from typing import Final

from runwright.engine.schemas import resolved, type_words
from runwright.eventstore.values import Json, JsonObject, encode

_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def misfit(value: Json, schema: Json, whole: JsonObject, at: str = "the answer") -> str | None:
    """Say what of a value does not fit a JSON Schema; ``None`` where nothing can be told.

    Args:
        value: The value.
        schema: What it has to be.
        whole: The schema that holds the definitions.
        at: What the value is called.
    """
    if not isinstance(schema, dict):
        return None
    schema = resolved(schema, whole)
    if isinstance(options := schema.get("anyOf"), list):
        fits = any(misfit(value, each, whole, at) is None for each in options)
        return None if fits else f"{at} has to be {type_words(schema)}"
    if isinstance(values := schema.get("enum"), list):
        legal = [encode(each) for each in values]
        return None if encode(value) in legal else f"{at} has to be {' or '.join(legal)}"
    kind = schema.get("type")
    if isinstance(kind, str) and kind in _TYPES and not _is(value, kind):
        return f"{at} has to be of type {type_words(schema)}"
    if isinstance(value, dict):
        return _of_object(value, schema, whole)
    if isinstance(value, list) and "items" in schema:
        found = (misfit(each, schema["items"], whole, f"item {number}") for number, each in enumerate(value, 1))
        return next((each for each in found if each is not None), None)
    return None


def _is(value: Json, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[kind])


def _of_object(value: JsonObject, schema: JsonObject, whole: JsonObject) -> str | None:
    properties, required = schema.get("properties"), schema.get("required")
    known = properties if isinstance(properties, dict) else {}
    if schema.get("additionalProperties") is False and (unknown := [each for each in value if each not in known]):
        return f"there is no field `{unknown[0]}`; there are {', '.join(known)}"
    missing = [str(each) for each in required if each not in value] if isinstance(required, list) else []
    if missing:
        return f"the field `{missing[0]}` is missing"
    found = (misfit(each, known.get(name), whole, f"the field `{name}`") for name, each in value.items())
    return next((each for each in found if each is not None), None)
