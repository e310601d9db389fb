"""Does the tool that brings out races still delay what it says it does?"""

import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
DELAYED = """
import asyncio, random, threading, time
from support.delays import PLACES, delay_handovers

chance, slept = random.Random(1), []
before = {(owner, name): getattr(owner, name) for owner, name, _, _ in PLACES}
delay_handovers(1000, chance)
assert all(getattr(owner, name) is not old for (owner, name), old in before.items())
time.sleep = slept.append
assert asyncio.run(asyncio.to_thread(lambda: 7)) == 7
assert slept
"""


def test_handovers_are_delayed_and_still_happen() -> None:
    """In a process of its own: what is delayed once stays so."""
    subprocess.run([sys.executable, "-c", DELAYED], cwd=TESTS, env={"PYTHONPATH": str(TESTS)}, check=True, timeout=60)
