"""Puts an input together from what somebody typed: a JSON value, then single fields, then the task."""

from collections.abc import Collection, Sequence
from typing import Final

from runwright.engine.authoring.conversion import PLAIN, NotConvertible, Shape, coerce_setting, schema_of
from runwright.engine.embedded.code import InputField, Typed
from runwright.engine.errors import AgentUnasked, InputRefused
from runwright.engine.near import meant, near
from runwright.engine.schemas import describe_fields, type_words
from runwright.eventstore.errors import ValueRefused
from runwright.eventstore.values import Json, JsonObject, decode, encode

#: The field that a task fills.
TASK_FIELD: Final = "task"


def fill_input(shape: Shape, value: object, typed: Typed) -> object:
    """Put an input together; whether it fits as a whole is checked after it.

    Args:
        shape: The shape of the workflow's declared input.
        value: What the fields are put into.
        typed: The fields, in order, and the task.

    Raises:
        InputRefused: A field cannot be read, is unknown, or does not fit. No message holds a value.
    """
    if not typed.fields and typed.task is None:
        return value
    if not isinstance(value, dict):
        raise InputRefused(
            "-s and TASK fill fields, and -i is no JSON object.", "Give the whole input with -i.", path="$"
        )
    fields: JsonObject = dict(value)
    faults: list[InputRefused] = []
    tried: set[str] = set()
    for each in typed.fields:
        tried.add(each.key)
        try:
            fields[each.key] = _read(each, shape)
        except InputRefused as refused:
            faults.append(refused)
    if typed.task is not None:
        tried.add(TASK_FIELD)
        try:
            fields[TASK_FIELD] = _convert(TASK_FIELD, typed.task, shape, "TASK")
        except InputRefused as refused:
            faults.append(refused)
    _refuse_all(faults, [name for name in _missing(shape, fields) if name not in tried], shape)
    return fields


def check_asked(named: Sequence[str], executors: Collection[str]) -> None:
    """Refuse an executor that was named for this start and that no node asks for: it is mistyped.

    Raises:
        AgentUnasked: There is one.
    """
    for name in named:
        if name not in executors:
            hint = meant(name, sorted(set(executors)), "executors that nodes ask for")
            raise AgentUnasked(name, hint)


def _missing(shape: Shape, fields: JsonObject) -> list[str]:
    """The fields that have to be given and are not."""
    return [name for name, _, needed in describe_fields(schema_of(shape)) if needed and name not in fields]


def _refuse_all(faults: Sequence[InputRefused], missing: Sequence[str], shape: Shape) -> None:
    """Say everything that is wrong at once; what is wrong alone is said by its own refusal, or by the check behind."""
    if len(faults) + len(missing) < 2:
        if faults:
            raise faults[0]
        return
    said = [each.message for each in faults]
    if missing:
        said.append(f"{'These fields are' if len(missing) > 1 else 'This field is'} missing: {', '.join(missing)}.")
    raise InputRefused(" ".join(said), _listed(shape), path="$")


def _listed(shape: Shape) -> str:
    """The fields of an input with their types."""
    fields = describe_fields(schema_of(shape))
    listed = ", ".join(f"{field} ({words}{'' if needed else ', optional'})" for field, words, needed in fields)
    return f"The input's fields: {listed}." if listed else "The input has no fields."


def _read(field: InputField, shape: Shape) -> Json:
    name = f"-s {field.key}"
    if not field.is_json:
        return _convert(field.key, field.text, shape, name)
    _find_field(field.key, shape, name)
    # A refusal of the strict decoder names path and fix, and never the value.
    try:
        return decode(field.text)
    except ValueRefused as error:
        raise InputRefused(
            f"The JSON of {name} is not usable: {error.path} {error.problem}.", f"{error.fix}.", path=f"$.{field.key}"
        ) from None


def _convert(key: str, text: str, shape: Shape, name: str) -> Json:
    child = _find_field(key, shape, name)
    try:
        # Where nothing is declared, text stays text: `-s version=1.10` must not become 1.1.
        value: Json = text if child is None or child is PLAIN else coerce_setting(text, child)
        encode(value)
    except NotConvertible:
        assert child is not None, "text without a declared type is not converted"
        words = type_words(schema_of(child))
        raise InputRefused(
            f"{name} has to be: {words}.", f"JSON can be given as -s {key}:=JSON.", path=f"$.{key}"
        ) from None
    return value


def _find_field(key: str, shape: Shape, name: str) -> Shape | None:
    schema = schema_of(shape)
    known = [field for field, _, _ in describe_fields(schema)]
    if key not in known and schema.get("additionalProperties") is False:
        what = (
            "TASK fills the field `task`, and the input has none." if name == "TASK" else f"There is no field {key!r}."
        )
        raise InputRefused(what, f"{near(key, known)} {_listed(shape)}".strip(), path="$")
    return shape.child(key)
