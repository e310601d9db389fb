"""An executor that is the person at the terminal."""

import sys
from typing import TextIO, cast

from runwright.engine.agents.agent import AgentRequest
from runwright.engine.execution.calling import in_thread
from runwright.eventstore.errors import StoreError
from runwright.eventstore.values import Json, JsonObject, decode, encode


class ConsoleAgent:
    """Asks whoever sits at the terminal: the prompt on stderr, the answer on one line, asked until it can be read.

    Args:
        input: Where answers are read; by default stdin.
        output: Where questions are shown; by default stderr, for stdout is data.
    """

    def __init__(self, *, input: TextIO | None = None, output: TextIO | None = None) -> None:
        self._input = input
        self._output = output

    async def run(self, request: AgentRequest) -> object:
        """Ask, and answer what was typed."""
        return await in_thread(request.run_id, self._ask, request)

    def _ask(self, request: AgentRequest) -> Json:
        self._say(f"\n{request.path} asks:\n\n{request.prompt.rstrip()}\n")
        if request.refused is not None:
            self._say(f"The last answer was refused: {request.refused}")
        choices = _choices(request.schema)
        if choices:
            self._say("\n".join(f"  {number}. {_shown(choice)}" for number, choice in enumerate(choices, 1)))
        elif not _is_text(request.schema):
            self._say(f"Answer with JSON: {encode(request.schema)}")
        while True:
            line = self._read()
            problem, answer = _understood(line, request.schema, choices)
            if problem is None:
                return answer
            self._say(problem)

    def _read(self) -> str:
        output = self._output or sys.stderr
        output.write("> ")
        output.flush()
        line = (self._input or sys.stdin).readline()
        if not line:
            raise EOFError("nobody is at the terminal: its input ended")
        return line.strip()

    def _say(self, text: str) -> None:
        (self._output or sys.stderr).write(text + "\n")


def _understood(line: str, schema: JsonObject, choices: list[Json]) -> tuple[str | None, Json]:
    """What is wrong with a line, or what it says."""
    if choices:
        return _chosen(line, choices)
    if _is_text(schema):
        return (None, line) if line else ("Write something.", None)
    try:
        return None, decode(line)
    except StoreError as error:
        return f"{error}", None


def _chosen(line: str, choices: list[Json]) -> tuple[str | None, Json]:
    for number, choice in enumerate(choices, 1):
        if line in (_shown(choice), str(number)):
            return None, choice
    return f"Choose one of them, by its number or its name (1 to {len(choices)}).", None


def _choices(schema: JsonObject) -> list[Json]:
    return cast(list[Json], schema.get("enum", []))


def _is_text(schema: JsonObject) -> bool:
    return schema.get("type") == "string"


def _shown(choice: Json) -> str:
    return choice if isinstance(choice, str) else encode(choice)
