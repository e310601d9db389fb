"""An executor that is a command: the prompt on its stdin, the answer on its stdout."""

import os
import re
from collections.abc import Mapping, Sequence

from runwright.engine.agents.agent import AgentRequest
from runwright.engine.execution.child import Gate, run_child
from runwright.engine.run_mark import RUN_MARK
from runwright.engine.safe import strike
from runwright.eventstore.errors import StoreError
from runwright.eventstore.values import Json, JsonObject, decode, encode

#: The most bytes of an answer.
MAX_ANSWER = 16 * 1024 * 1024
_FENCED = re.compile(r"^```(?:json)?[ \t]*\n(.*?)\n```[ \t]*$", re.DOTALL | re.MULTILINE)


class CommandFailed(Exception):
    """The command of an executor ended badly.

    Attributes:
        exit_code: Its exit code; negative for the signal that killed it.
    """

    def __init__(self, program: str, exit_code: int, stderr: str) -> None:
        self.exit_code = exit_code
        super().__init__(f"{program} ended with exit code {exit_code}\n{stderr[-2000:]}".rstrip())


class CommandAgent:
    """Answers by running a command, in a process group of its own that ends with the request, its time up for one.

    The prompt stands on stdin, followed by the JSON Schema of the answer and, when it is asked again, by why the
    last answer was refused. The answer is the JSON on stdout: all of it, or its last fenced block; where neither
    is JSON, the text itself. ``RUNWRIGHT_RUN_ID``, ``_PATH``, ``_VISIT``, ``_ATTEMPT``, ``_REQUEST_ID`` and
    ``_RESUMED`` stand in the environment.

    Args:
        argv: The program and its arguments; no shell.
        env: Variables on top of this process's own.
        gate: Is told of each process before it gets its prompt, and after its end.
    """

    def __init__(self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, gate: Gate | None = None) -> None:
        if isinstance(argv, str) or not argv:
            raise TypeError("argv is a list of arguments, the program first")
        self._argv = tuple(argv)
        self._env = dict(env or {})
        self._gate = gate

    async def run(self, request: AgentRequest) -> object:
        """Run the command and read its answer.

        Raises:
            CommandFailed: It ended with a code other than zero.
        """
        end = await run_child(
            self._argv,
            cwd=request.cwd,
            env={**os.environ, **self._env, **_facts(request)},
            stdin=_question(request).encode("utf-8", "replace"),
            max_output=MAX_ANSWER,
            on_stderr=lambda line: request.log(strike(line, self._env.values())),
            gate=self._gate,
        )
        if end.exit_code != 0:
            stderr = strike(end.stderr.decode("utf-8", "replace"), self._env.values())
            raise CommandFailed(self._argv[0], end.exit_code, stderr)
        return read_answer(end.stdout.decode("utf-8", "replace"), request.schema)

    def __repr__(self) -> str:
        return f"CommandAgent({self._argv[0]!r})"


def read_answer(text: str, schema: JsonObject) -> Json:
    """The answer in what a command printed: JSON, a fenced block of JSON, or the text itself.

    Args:
        text: What it printed.
        schema: What the answer must meet: where that is text, nothing else is read into it.
    """
    text = text.strip()
    wants_text = schema.get("type") == "string"
    for candidate in (text, *reversed(_FENCED.findall(text))):
        try:
            answer = decode(candidate)
        except StoreError:
            continue
        if isinstance(answer, str) or not wants_text:
            return answer
    return text


def _question(request: AgentRequest) -> str:
    parts = [request.prompt]
    if request.schema:
        parts.append(
            f"Answer with one JSON value and nothing else. It must meet this JSON Schema:\n{encode(request.schema)}"
        )
    if request.refused is not None:
        parts.append(f"Your last answer was refused: {request.refused}\nCorrect it.")
    return "\n\n".join(parts) + "\n"


def _facts(request: AgentRequest) -> dict[str, str]:
    return {
        RUN_MARK: request.run_id,
        "RUNWRIGHT_PATH": request.path,
        "RUNWRIGHT_VISIT": str(request.visit),
        "RUNWRIGHT_ATTEMPT": str(request.attempt),
        "RUNWRIGHT_REQUEST_ID": request.request_id,
        "RUNWRIGHT_RESUMED": "1" if request.resumed else "0",
    }
