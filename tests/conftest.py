"""What every test may use: coroutine functions run on a loop of their own, and drawn examples repeat."""

import asyncio
import inspect
import os
import random

import pytest
from hypothesis import settings

from support.delays import delay_handovers

settings.register_profile("repeated", derandomize=True)


def pytest_configure(config: pytest.Config) -> None:
    """Draw the same examples each time: a check says what a change did; a seed that is given explores."""
    if config.getoption("--hypothesis-seed", default=None) is None:
        settings.load_profile("repeated")
    if level := os.environ.get("RUNWRIGHT_DELAYS"):
        delay_handovers(float(level), random.Random())  # no two runs shall meet the same ones


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run an ``async def`` test to its end."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
