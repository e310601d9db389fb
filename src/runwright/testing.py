"""Testing your own workflows: real transitions, in memory, on a virtual clock, with stand-ins for what is outside."""

from runwright.engine.testing.agents import ScriptedAgent
from runwright.engine.testing.contexts import context
from runwright.engine.testing.errors import (
    CrashChanged,
    EffectRepeated,
    StandInMissing,
    StandInUnknown,
    StandInUnused,
    StandInWrong,
    StandsStill,
    TestingError,
)
from runwright.engine.testing.running import crash_at, run

__all__ = [
    "CrashChanged",
    "EffectRepeated",
    "ScriptedAgent",
    "StandInMissing",
    "StandInUnknown",
    "StandInUnused",
    "StandInWrong",
    "StandsStill",
    "TestingError",
    "context",
    "crash_at",
    "run",
]
