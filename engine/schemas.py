"""A JSON Schema in a few words, for people who have to meet it."""

from runwright.eventstore.values import Json, JsonObject, encode


def describe_fields(schema: JsonObject) -> list[tuple[str, str, bool]]:
    """The fields of an object's JSON Schema: name, type in words, and whether it has to be given.

    Those that have to be there come first, as they were declared: a stored schema has its keys sorted, but keeps the
    order of that list.
    """
    schema = resolved(schema, schema)
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return []
    required = schema.get("required")
    needed = required if isinstance(required, list) else []
    order = [*(name for name in needed if isinstance(name, str) and name in properties)]
    order += [name for name in properties if name not in needed]
    return [(name, type_words(properties[name]), name in needed) for name in order]


def type_words(schema: Json) -> str:
    """A JSON Schema in a few words."""
    if not isinstance(schema, dict):
        return "any"
    if isinstance(options := schema.get("anyOf"), list):
        return " or ".join(type_words(each) for each in options)
    if isinstance(values := schema.get("enum"), list):
        return " or ".join(encode(each) for each in values)
    if isinstance(kind := schema.get("type"), str):
        if kind == "array" and "items" in schema:
            return f"list of {type_words(schema['items'])}"
        form = schema.get("format")
        return f"{kind} ({form})" if isinstance(form, str) else kind
    return "object" if "$ref" in schema else "any"


def field_lines(schema: JsonObject) -> list[str]:
    """The fields of an object, one a line, their types in a column of their own."""
    fields = describe_fields(schema)
    width = max((len(name) for name, _, _ in fields), default=0)
    return [f"{name:<{width}}  {words}{'' if needed else ', optional'}" for name, words, needed in fields]


def resolved(schema: JsonObject, whole: JsonObject) -> JsonObject:
    """What a schema that only refers to a definition of its own means."""
    reference, definitions = schema.get("$ref"), whole.get("$defs")
    if isinstance(reference, str) and isinstance(definitions, dict):
        found = definitions.get(reference.rpartition("/")[2])
        return found if isinstance(found, dict) else schema
    return schema
