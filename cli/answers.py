"""From what somebody types as an answer to the JSON that it means."""

from typing import TYPE_CHECKING

from runwright.cli.failures import Refused

if TYPE_CHECKING:
    from runwright.eventstore.values import Json, JsonObject


def read_answer(text: str, schema: "JsonObject") -> "Json":
    """Read an answer by the JSON Schema that it has to meet; the engine checks it whole.

    Where only a text is asked for, what was typed is the text. Else it is JSON, or, where a text may stand as well,
    whatever is no JSON is a text.

    Raises:
        Refused: It is no JSON, and no text may stand there.
    """
    from runwright.eventstore.errors import ValueRefused
    from runwright.eventstore.values import decode

    kinds = _kinds(schema)
    if kinds == {"string"}:
        return text
    try:
        value = decode(text)
    except ValueRefused as error:
        if "string" in kinds or not kinds:
            return text
        raise Refused.usage(
            f"The answer is not usable: {error.path} {error.problem}.",
            "Write it as JSON; a text in it stands in quotation marks.",
            code="input_invalid",
        ) from None
    # `3.5` where a text or nothing may stand is a text: nothing else fits.
    return text if "string" in kinds and not kinds & _kinds_of(value) else value


def _kinds_of(value: "Json") -> set[str]:
    """The JSON types that a value is of; ``other`` fits whatever cannot be told."""
    match value:
        case None:
            kinds = {"null"}
        case bool():
            kinds = {"boolean"}
        case int():
            kinds = {"integer", "number"}
        case float():
            kinds = {"number"}
        case str():
            kinds = {"string"}
        case list():
            kinds = {"array"}
        case _:
            kinds = {"object"}
    return kinds | {"other"}


def _kinds(schema: "Json") -> set[str]:
    """The JSON types that a schema allows; empty where that cannot be told."""
    if not isinstance(schema, dict):
        return set()
    if isinstance(values := schema.get("enum"), list):
        return {"string" if isinstance(each, str) else "other" for each in values}
    if isinstance(options := schema.get("anyOf"), list):
        kinds = [_kinds(each) for each in options]
        return set().union(*kinds) if all(kinds) else set()
    match schema.get("type"):
        case str(kind):
            return {kind}
        case list(several):
            return {str(each) for each in several}
        case _:
            return {"other"} if "$ref" in schema else set()
