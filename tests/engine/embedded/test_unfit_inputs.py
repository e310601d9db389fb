"""Inputs that fitted their type when they were saved, and do not when they are read again."""

from pathlib import Path

import pytest
from attrs import field, frozen

from runwright import Context, Engine, JsonObject, Workflow

_fits = [True]
#: How often it still fits.
_limited = [1000]
_raises: list[type[BaseException]] = [ValueError]


def _checked(_instance: object, _attribute: object, value: str) -> None:
    _limited[0] -= 1
    if not _fits[0] or _limited[0] < 0:
        raise _raises[0](f"no {value}")


@frozen
class Given:
    """An input whose check looks at the world."""

    name: str = field(validator=_checked)


@pytest.fixture(autouse=True)
def fits() -> None:
    """Everything fits at first."""
    _fits[0], _limited[0], _raises[0] = True, 1000, ValueError


def spoiling() -> Workflow[Given]:
    """Its first node spoils the input for the second."""
    workflow = Workflow("spoiling", input=Given)

    @workflow.compute
    def spoil(ctx: Context[Given]) -> str:
        _fits[0] = False
        return ctx.input.name

    @workflow.compute
    def use(ctx: Context[Given]) -> str:
        return ctx.input.name

    workflow.entry(spoil)
    workflow.then(spoil, use)
    return workflow


@pytest.mark.parametrize("raised", [ValueError, RuntimeError, SystemExit])
def test_a_run_that_began_parks_and_goes_on(tmp_path: Path, raised: type[BaseException]) -> None:
    """It names the cause without the value, and a resume carries it on once the input fits again."""
    _raises[0] = raised
    workflow = spoiling()
    with Engine.open(tmp_path / "home", workflows=[workflow]) as engine:
        run_id = engine.run(workflow, Given("secret-name"), timeout=20).run_id
        park = engine.status(run_id).reason
        assert park is not None
        assert park.code == "environment_missing"
        assert park.detail is not None
        assert "does not fit its type any more" in park.detail
        assert "secret-name" not in park.detail
        engine.resume(run_id)
        assert engine.wait(run_id, until="waiting", timeout=20).status != "completed"
        _fits[0] = True
        engine.resume(run_id)
        assert engine.wait(run_id, timeout=20).output == "secret-name"


def test_a_launch_fails(tmp_path: Path) -> None:
    """A run that never began has nothing to wait for."""
    workflow = spoiling()
    with Engine.open(tmp_path / "home", workflows=[workflow]) as engine:
        run_id = engine.start(workflow, Given("name"), drive=False)
        _fits[0] = False
        engine.resume(run_id)
        outcome = engine.wait(run_id, timeout=20)
        assert outcome.status == "failed"
        assert outcome.error is not None
        assert outcome.error.code == "input_invalid"
        assert engine.status(run_id).started_at is None


def test_a_request_that_cannot_be_rebuilt_is_a_failed_node(tmp_path: Path) -> None:
    """Nothing was applied, and nobody has to ask whether it was."""
    workflow = Workflow("asking")

    def asked(ctx: Context[JsonObject]) -> Given:
        return Given("name")

    @workflow.action(request=asked)
    def apply(ctx: Context[JsonObject], request: Given) -> None:
        raise AssertionError("never called")

    workflow.entry(apply)
    _limited[0] = 2  # written, and rebuilt once to see that it can be
    with Engine.open(tmp_path / "home") as engine:
        outcome = engine.run(workflow, {}, timeout=20)
        assert outcome.error is not None
        assert outcome.error.code == "node_failed"
