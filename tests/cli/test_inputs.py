"""The input of a run as people hand it in."""

import io
from pathlib import Path
from typing import Literal

import pytest
from attrs import field, frozen

from runwright.cli.failures import Failure, Refused, failure_of
from runwright.cli.inputs import read_base
from runwright.cli.launching import typed_of
from runwright.engine.authoring.conversion import schema_of, shape_of
from runwright.engine.embedded.filling import fill_input
from runwright.engine.errors import InputRefused
from runwright.engine.schemas import describe_fields
from runwright.eventstore.values import JsonObject

SECRET = "hunter2"


@frozen
class Everything:
    """An input with a field of each kind that people type."""

    task: str = ""
    count: int = 0
    share: float = 0.0
    deep: bool = False
    mode: Literal["fast", "slow"] = "fast"
    tags: list[str] = field(factory=list)
    note: str | None = None


def build(*settings: str, base: str | None = None, task: str | None = None, declared: object = Everything) -> object:
    """Build an input with what stands behind each flag."""
    given = read_base(base, io.BytesIO(b'{"count": 7}'))
    return fill_input(shape_of(declared), given, typed_of(settings, task))


def refusal(*settings: str, base: str | None = None, task: str | None = None, declared: object = Everything) -> Failure:
    """What is said where an input cannot be built."""
    with pytest.raises((Refused, InputRefused)) as caught:
        build(*settings, base=base, task=task, declared=declared)
    failure = failure_of(caught.value)
    assert failure is not None
    return failure


def test_settings_take_the_declared_type() -> None:
    """`key=value` converts to the field's type, `key:=JSON` is JSON, and the flags go in order."""
    assert build("count=3", "share=0.5", "deep=true", "mode=slow", 'tags:=["a"]', "note=null", "task=5") == {
        "count": 3, "share": 0.5, "deep": True, "mode": "slow", "tags": ["a"], "note": None, "task": "5",
    }  # fmt: skip
    assert build("count=3", base='{"count": 1, "deep": true}') == {"count": 3, "deep": True}
    assert build("note=a=b") == {"note": "a=b"}


def test_the_task_fills_its_field(tmp_path: Path) -> None:
    """TASK is the field `task`; -i reads text, a file or stdin."""
    assert build(task="do it") == {"task": "do it"}
    assert build(base="-") == {"count": 7}
    (tmp_path / "input.json").write_bytes(b'\xef\xbb\xbf{"count": 8}')
    assert build(base=f"@{tmp_path}/input.json") == {"count": 8}


def test_without_a_declared_type_text_stays_text() -> None:
    """A plain JSON input takes any key, and `1.10` stays what was typed."""
    assert build("version=1.10", "n:=2", task="go", declared=JsonObject) == {"version": "1.10", "n": 2, "task": "go"}


@pytest.mark.parametrize(
    ("settings", "base", "task"),
    [
        ((f"count={SECRET}",), None, None),
        ((f"{SECRET}",), None, None),
        ((f"=x{SECRET}",), None, None),
        ((f"wrong={SECRET}",), None, None),
        ((f'count:={{"a": "{SECRET}"',), None, None),
        (("share=nan",), None, None),
        (("share:=NaN",), None, None),
        ((f"mode={SECRET}",), None, None),
        ((), f'{{"a": "{SECRET}", "a": 1}}', None),
        ((), "@/nowhere/at/all", None),
        ((), "@\0", None),
        (("count=1",), f'["{SECRET}"]', None),
    ],
)
def test_refusals_name_the_field_and_never_the_value(
    settings: tuple[str, ...], base: str | None, task: str | None
) -> None:
    """Every mistake is `input_invalid`, exit 2, with a next step and without what was typed."""
    failure = refusal(*settings, base=base, task=task)
    assert (failure.code, failure.exit_code) == ("input_invalid", 2)
    assert failure.hint
    assert SECRET not in failure.message + failure.hint


def test_an_input_without_a_task_lists_its_fields() -> None:
    """TASK on an input that has no such field says which fields there are."""

    @frozen
    class Place:
        path: str
        depth: int = 1

    assert refusal(task="do it", declared=Place).hint == "The input's fields: path (string), depth (integer, optional)."


def test_fields_are_described_in_words() -> None:
    """Types read as words, and what has to be given is told apart."""
    assert describe_fields(schema_of(Everything))[3:6] == [
        ("deep", "boolean", False),
        ("mode", '"fast" or "slow"', False),
        ("tags", "list of string", False),
    ]
