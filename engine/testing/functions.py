"""Functions that stand in: called with what the real thing would get, and heard where they speak for the test."""

from runwright.engine.execution.calling import Quit, call
from runwright.engine.testing.faults import Faults
from runwright.engine.testing.scripts import Script


async def called(script: Script, faults: Faults, path: str, run_id: str, *arguments: object) -> object:
    """Call a function that stands in: a coroutine function on the loop, a plain one in a thread.

    An exception is what the agent or the effect comes to. A failed assertion is no such thing, nor is what ends a test
    (`pytest.fail`): the test ends with it.

    Args:
        script: The stand-in; it has a function.
        faults: Told of what does not fit.
        path: The node that it stands in for.
        run_id: The run.
        arguments: What the real thing would get.
    """
    assert script.function is not None, "called where there is one"
    if not script.takes(*arguments):
        gets = " and ".join(type(each).__name__ for each in arguments)
        await faults.wrong(path, f"its function, which gets {gets}", "one with these arguments")
    try:
        return await call(run_id, None, script.function, *arguments)
    except Exception as error:
        fault = _of_the_test(error)
        (fault or error).add_note(f"The stand-in of node {path!r} raised this.")
        if fault is not None:
            await faults.tell(fault)
        if isinstance(error, StopAsyncIteration) or isinstance(error.__cause__, StopIteration):
            await faults.missing(path, "has a function that ran out of answers")
        raise


def _of_the_test(error: Exception) -> BaseException | None:
    """What says that the test fails or is skipped, where it is that."""
    if isinstance(error, AssertionError):
        return error
    cause = error.__cause__
    asked_to_end = isinstance(error, Quit) and not isinstance(cause, SystemExit | KeyboardInterrupt)
    return cause if asked_to_end else None
