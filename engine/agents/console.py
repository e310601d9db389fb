"""An executor that is the person at the terminal."""

import re
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TextIO, cast

from runwright.engine.agents.agent import AgentRequest
from runwright.engine.execution.calling import in_thread
from runwright.engine.schemas import field_lines, type_words
from runwright.eventstore.errors import StoreError
from runwright.eventstore.values import Json, JsonObject, decode, encode

#: How a person is asked to go on.
PROMPT = "> "
_PATH = re.compile(r"\$\.([\w.\[\]]*\w\]?)")
_WHOLE = re.compile(r"\$(?=\s|:|$)")


class ConsoleAgent:
    """Asks whoever sits at the terminal: the prompt on stderr, the answer on one line, asked until it can be read.

    Args:
        input: Where answers are read; by default stdin.
        output: Where questions are shown; by default stderr, for stdout is data.
        asking: What holds while somebody is asked, so that nothing else is written between question and answer.
    """

    def __init__(
        self,
        *,
        input: TextIO | None = None,
        output: TextIO | None = None,
        asking: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self._input = input
        self._output = output
        self._asking = asking

    async def run(self, request: AgentRequest) -> object:
        """Ask, and answer what was typed."""
        return await in_thread(request.run_id, self._ask, request)

    def _ask(self, request: AgentRequest) -> Json:
        with self._asking():
            return self._asked(request)

    def _asked(self, request: AgentRequest) -> Json:
        self._say(f"\n{request.path} asks:\n\n{request.prompt.rstrip()}\n")
        if request.refused is not None:
            self._say(f"The last answer was refused: {_in_words(request.refused)}.".replace("..", "."))
        choices = _choices(request.schema)
        if choices:
            self._say("\n".join(f"  {number}. {_shown(choice)}" for number, choice in enumerate(choices, 1)))
        elif not _is_text(request.schema):
            self._say(_wanted(request.schema))
        while True:
            line = self._read()
            problem, answer = _understood(line, request.schema, choices)
            if problem is None:
                return answer
            self._say(problem)

    def _read(self) -> str:
        output = self._output or sys.stderr
        output.write(PROMPT)
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
        return f"That cannot be read as JSON: {_in_words(error.message).rstrip(';')}.", None


def _wanted(schema: JsonObject) -> str:
    """What an answer has to be, in lines."""
    fields = field_lines(schema)
    if fields:
        return "\n".join(["Answer with a JSON object of these fields, on one line:", *(f"  {each}" for each in fields)])
    return f"Answer with JSON on one line: {type_words(schema)}."


def _in_words(reason: str) -> str:
    """Why an answer was refused, for people: a path into it as the field that it names."""
    return _WHOLE.sub("the answer", _PATH.sub(r"the field `\1`", reason)).rstrip(".")


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
