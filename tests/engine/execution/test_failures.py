"""Failures: what is known and what is uncertain, which text is kept, and what is struck out of it."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from pathlib import Path
from threading import Lock
from typing import Any

import pytest
from attrs import frozen

from runwright import Context, JsonObject, Workflow
from runwright.engine.commands.worker import FailRun
from runwright.engine.execution.calling import call
from runwright.engine.execution.failures import MAX_ERROR, classify, describe, trace
from runwright.engine.safe import cut, mask, strike
from support.running import port_for, run

#: A list that contains itself.
ENDLESS: list[object] = []
ENDLESS.append(ENDLESS)


class TwoArguments(Exception):
    """Cannot be built from its text, and holds what cannot be stored."""

    def __init__(self, host: str, socket: object) -> None:
        super().__init__(f"{host} is down")
        self.socket = socket


class Final(BaseException):
    """None that `except Exception` sees."""


class Unshowable(Exception):
    """Its text raises."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


def test_the_text_of_an_exception() -> None:
    """Type and message, those it came from, and a word where the text itself is broken."""
    cause = KeyError("a")
    error = TwoArguments("db1", Lock())
    error.__cause__ = cause
    assert describe(error).splitlines() == [
        "TwoArguments: db1 is down",
        "caused by KeyError: 'a'",
    ]
    assert "__str__ raised RuntimeError" in describe(Unshowable())
    assert trace(Unshowable())


def test_a_text_is_bounded() -> None:
    """8 KiB, cut on a character."""
    failure = classify(ValueError("é" * 100_000))
    assert len(failure.error.encode()) <= MAX_ERROR
    assert failure.error.endswith("é…")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Authorization: Bearer abc.def-123", "Authorization: [masked] [masked]"),
        ("GET https://me:hunter2@host/x failed", "GET https://[masked]@host/x failed"),
        ("url https://host/p?api_key=abc&n=1", "url https://host/p?api_key=[masked]&n=1"),
        ('{"password": "a b", "n": 1}', '{"password": [masked], "n": 1}'),
        ("KeyError: 'name' is missing", "KeyError: 'name' is missing"),
        ("host db1 refused on port 5432", "host db1 refused on port 5432"),
        ("run --token abc now", "run --token [masked] now"),
    ],
)
def test_masking(text: str, kept: str) -> None:
    """Secrets go, hosts and checks stay."""
    assert mask(text) == kept


def test_masking_is_quick_whatever_it_reads() -> None:
    """A long word costs no more than a short one."""
    started = time.monotonic()
    for text in ("a" * 1_000_000, "key" * 300_000, "-" * 300_000, "x=" * 300_000):
        mask(text)
    assert time.monotonic() - started < 10


def test_declared_secrets_are_struck_out_everywhere() -> None:
    """Short values are left alone: they would strike out half of the text."""
    assert strike("a s3cr3t in a text", ["s3cr3t", "a"]) == "a [masked] in a text"


def test_cutting_survives_half_characters() -> None:
    """A lone surrogate is written out and breaks nothing."""
    assert cut("a\ud800", 100) == "a\\ud800"


class Colour(Enum):
    """An enumeration."""

    RED = "red"


@frozen
class Box:
    """A class with everything in it."""

    at: datetime
    colour: Colour
    amounts: tuple[Decimal, ...]


def returning(value: object, annotation: Any) -> Workflow[JsonObject]:
    """A compute node that returns a value, declared as a type."""
    workflow = Workflow("returning")

    def make(ctx: Context[JsonObject]) -> Any:
        return value

    make.__annotations__["return"] = annotation
    node: Any = workflow.compute(make)

    @workflow.compute
    def look(ctx: Context[JsonObject]) -> str:
        return repr(ctx.output(node))

    workflow.entry(node)
    workflow.then(node, look)
    return workflow


def test_types_survive_as_they_were_declared(tmp_path: Path) -> None:
    """Tuple, enum, decimal and time come back as what they were."""
    box = Box(datetime(2026, 1, 1, tzinfo=UTC), Colour.RED, (Decimal("1.10"),))
    port = port_for(returning(box, Box), tmp_path)
    run(port)
    assert port.output("look") == repr(box)


@pytest.mark.parametrize(
    ("value", "annotation", "words"),
    [
        ({"a": [1, {"b": float("nan")}]}, Any, "$.a[1].b"),
        ((1, 2), Any, "tuple"),
        ({1, 2}, list[int], "set"),
        (b"x", Any, "bytes"),
        (Lock(), Any, "lock"),
        ((each for each in "ab"), Any, "generator"),
        (datetime(2026, 1, 1), datetime, "time zone"),  # noqa: DTZ001 (what is refused)
        ("x", int, "int"),
        ({"a": Lock()}, Any, "$.a"),
        (ENDLESS, Any, "nested too deep, or contains itself"),
        (ENDLESS, list[Any], "nested too deep, or contains itself"),
    ],
    ids=["nan", "tuple", "set", "bytes", "lock", "generator", "naive", "text", "inner", "endless", "endless list"],
)
def test_what_cannot_be_stored_fails_where_it_was_returned(
    tmp_path: Path, value: object, annotation: Any, words: str
) -> None:
    """With the stable code, the path and the type; the run is not stuck."""
    port = port_for(returning(value, annotation), tmp_path)
    assert run(port) == "finished"
    assert isinstance(port.ended, FailRun)
    assert port.ended.code == "output_invalid"
    assert words in str(port.ended.error)


def test_an_output_that_is_too_large(tmp_path: Path) -> None:
    """Over 16 MiB the node fails with `payload_too_large`."""
    port = port_for(returning("x" * (17 * 1024 * 1024), str), tmp_path)
    assert run(port) == "finished"
    assert isinstance(port.ended, FailRun)
    assert port.ended.code == "payload_too_large"


@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), Final()])
def test_a_function_that_would_end_the_program(tmp_path: Path, kind: str, error: BaseException) -> None:
    """`sys.exit`, and whatever else is no `Exception`, fails the node and nothing else."""
    workflow = Workflow("exits")

    def plain(ctx: Context[JsonObject]) -> int:
        raise error

    async def waiting(ctx: Context[JsonObject]) -> int:
        raise error

    node: Any = workflow.compute(plain if kind == "sync" else waiting)
    workflow.entry(node)
    port = port_for(workflow, tmp_path)
    # Off the main thread, where nobody's Ctrl-C arrives.
    with ThreadPoolExecutor(1) as background:
        assert background.submit(run, port).result(30) == "finished"
    assert isinstance(port.ended, FailRun)
    assert type(error).__name__ in str(port.ended.error)


@pytest.mark.parametrize("broken", [RuntimeError, SystemExit, KeyboardInterrupt])
def test_text_that_would_end_the_program(tmp_path: Path, broken: type[BaseException]) -> None:
    """An exception's ``__str__``, its ``exceptions`` and a value's own code fail the node and nothing else."""

    class Hostile(Exception):
        @property
        def exceptions(self) -> Any:
            raise broken

        def __str__(self) -> str:
            raise broken

    assert f"__str__ raised {broken.__name__}" in classify(Hostile()).error

    @frozen
    class Value:
        x: int = 1

        def __getattribute__(self, name: str) -> Any:
            if name == "x":
                raise broken
            return object.__getattribute__(self, name)

    port = port_for(returning(Value(), Value), tmp_path)
    assert run(port) == "finished"
    assert isinstance(port.ended, FailRun)
    assert port.ended.code == "output_invalid"


def test_stop_iteration_is_an_error_like_others(tmp_path: Path) -> None:
    """What a future cannot carry reaches the node all the same."""
    workflow = Workflow("stops")

    @workflow.compute
    def work(ctx: Context[JsonObject]) -> int:
        return next(iter([]))

    workflow.entry(work)
    port = port_for(workflow, tmp_path)
    assert run(port) == "finished"
    assert isinstance(port.ended, FailRun)
    assert "StopIteration" in str(port.ended.error)


def _of_the_user() -> None:
    raise ValueError("mine")


async def test_a_traceback_begins_at_the_users_own_code() -> None:
    """How the engine came to call it is left out, of what it came from too; a path of a class is no part of a text."""
    (error,) = await asyncio.gather(call("run", 5, _of_the_user), return_exceptions=True)
    assert isinstance(error, ValueError)
    told = trace(error)
    assert "_of_the_user" in told
    assert "calling.py" not in told
    assert "asyncio" not in told
    assert "." not in describe(TwoArguments("db1", Lock())).partition(":")[0]
