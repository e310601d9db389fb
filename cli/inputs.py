"""The input of a run as people hand it in: ``-i``, then ``-s``, then TASK."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from runwright.cli.failures import Refused
from runwright.cli.hints import near
from runwright.engine.schemas import describe_fields, type_words
from runwright.eventstore.values import MAX_VALUE, Json, JsonObject, decode, encode

if TYPE_CHECKING:  # imported where it is used: it brings the whole conversion along
    from runwright.engine.authoring.conversion import Shape

#: The field that TASK fills.
TASK_FIELD = "task"


def build_input(
    shape: "Shape",
    *,
    base: str | None,
    settings: Sequence[str],
    task: str | None,
    stdin: BinaryIO | None = None,
) -> Json:
    """Put an input together; the engine checks it whole.

    Args:
        shape: The shape of the workflow's declared input.
        base: What ``-i`` was given: JSON text, ``@FILE``, ``-`` for stdin, or ``None``.
        settings: What ``-s`` was given: ``key=value`` or ``key:=JSON``, in order.
        task: The TASK argument.
        stdin: Where ``-`` reads; the process's own by default.

    Raises:
        Refused: Something in it cannot be read, or does not fit the field it is for. No message holds a value.
    """
    value: Json = {} if base is None else _read_json(_read_base(base, stdin), "-i")
    if not isinstance(value, dict):
        if not settings and task is None:
            return value
        raise _wrong("-s and TASK fill fields, and -i is no JSON object.", "Give the whole input with -i.")
    fields = dict(value)
    faults: list[Refused] = []
    tried: set[str] = set()
    for each in settings:
        tried.add(each.partition("=")[0].removesuffix(":"))
        try:
            key, setting = _read_setting(each, shape)
            fields[key] = setting
        except Refused as refused:
            faults.append(refused)
    if task is not None:
        tried.add(TASK_FIELD)
        try:
            fields[TASK_FIELD] = _convert(TASK_FIELD, task, shape, "TASK")
        except Refused as refused:
            faults.append(refused)
    _refuse_all(faults, [name for name in _missing(shape, fields) if name not in tried], shape)
    return fields


def _missing(shape: "Shape", fields: JsonObject) -> list[str]:
    """The fields that have to be given and are not."""
    from runwright.engine.authoring.conversion import schema_of

    return [name for name, _, needed in describe_fields(schema_of(shape)) if needed and name not in fields]


def _refuse_all(faults: Sequence[Refused], missing: Sequence[str], shape: "Shape") -> None:
    """Say everything that is wrong at once; what is wrong alone, the engine or its own refusal says as well."""
    if len(faults) + len(missing) < 2:
        if faults:
            raise faults[0]
        return
    said = [each.failure.message for each in faults]
    if missing:
        said.append(f"{'These fields are' if len(missing) > 1 else 'This field is'} missing: {', '.join(missing)}.")
    raise _wrong(" ".join(said), _listed(shape))


def _listed(shape: "Shape") -> str:
    """The fields of an input with their types."""
    from runwright.engine.authoring.conversion import schema_of

    fields = describe_fields(schema_of(shape))
    listed = ", ".join(f"{field} ({words}{'' if needed else ', optional'})" for field, words, needed in fields)
    return f"The input's fields: {listed}." if listed else "The input has no fields."


def _read_base(base: str, stdin: BinaryIO | None) -> str:
    if base == "-":
        raw = (stdin or sys.stdin.buffer).read(MAX_VALUE + 1)
    elif base.startswith("@"):
        try:
            with Path(base[1:]).open("rb") as file:
                raw = file.read(MAX_VALUE + 1)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it has no valid name"
            raise _wrong(f"The file given with -i cannot be read: {reason}.", "Check its name and rights.") from None
    else:
        return base
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _wrong("The input given with -i is not UTF-8 text.", "Convert it to UTF-8.") from None


def _read_json(text: str, name: str) -> Json:
    # A refusal of the strict decoder names path and fix, and never the value.
    from runwright.eventstore.errors import ValueRefused

    try:
        return decode(text)
    except ValueRefused as error:
        raise _wrong(f"The JSON of {name} is not usable: {error.path} {error.problem}.", f"{error.fix}.") from None


def _read_setting(text: str, shape: "Shape") -> tuple[str, Json]:
    left, equals, right = text.partition("=")
    key = left.removesuffix(":")
    if not equals or not key:
        raise _wrong("-s takes key=value, or key:=JSON.", "Example: -s path=. -s top:=20")
    if left.endswith(":"):
        _find_field(key, shape, f"-s {key}")
        return key, _read_json(right, f"-s {key}")
    return key, _convert(key, right, shape, f"-s {key}")


def _convert(key: str, text: str, shape: "Shape", name: str) -> Json:
    from runwright.engine.authoring.conversion import PLAIN, NotConvertible, coerce_setting

    child = _find_field(key, shape, name)
    try:
        # Where nothing is declared, text stays text: `-s version=1.10` must not become 1.1.
        value: Json = text if child is None or child is PLAIN else coerce_setting(text, child)
        encode(value)
    except NotConvertible:
        from runwright.engine.authoring.conversion import schema_of

        words = type_words(schema_of(child))
        raise _wrong(f"{name} has to be: {words}.", f"JSON can be given as -s {key}:=JSON.") from None
    return value


def _find_field(key: str, shape: "Shape", name: str) -> "Shape | None":
    from runwright.engine.authoring.conversion import schema_of

    schema = schema_of(shape)
    fields = describe_fields(schema)
    known = [field for field, _, _ in fields]
    if key not in known and schema.get("additionalProperties") is False:
        what = (
            "TASK fills the field `task`, and the input has none." if name == "TASK" else f"There is no field {key!r}."
        )
        raise _wrong(what, f"{near(key, known)} {_listed(shape)}".strip())
    return shape.child(key)


def _wrong(message: str, hint: str) -> Refused:
    return Refused.usage(message, hint, code="input_invalid")
