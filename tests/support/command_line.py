"""Runs commands of the command line in this process, and makes their documents comparable."""

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from runwright.cli.main import main
from support.queueing import queue_run


@frozen
class Answer:
    """What one command answered."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout; anything beside it fails."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """One JSON document a line."""
        return [json.loads(line) for line in self.out.splitlines()]


class CommandLine:
    """Runs commands in a project folder.

    Attributes:
        project: The folder that commands run in.
        home: The state directory.
    """

    def __init__(self, project: Path, home: Path, capture: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch):
        self.project = project
        self.home = home
        self._capture = capture
        self._patch = patch

    def __call__(self, *arguments: str, code: int = 0, stdin: str = "") -> Answer:
        """Run a command and check its exit code."""
        answer = self.ask(*arguments, stdin=stdin)
        assert answer.code == code, f"runwright {' '.join(arguments)} exited {answer.code}: {answer.out}{answer.err}"
        return answer

    def ask(self, *arguments: str, stdin: str = "") -> Answer:
        """Run a command, whatever it exits with."""
        self._capture.readouterr()
        self._patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        code = main(arguments)
        out, err = self._capture.readouterr()
        assert "Traceback" not in err
        return Answer(code, out, err)

    def queue(self, workflow: str, task: str | None = None, **given: Any) -> str:
        """Queue a run in the project that nobody drives; its ID."""
        return queue_run(self.home, Path.cwd(), workflow, task, **given)

    def stop_host(self) -> None:
        """Stop the host that a command has started, if one has, and wait until its process is gone."""
        if (self.home / "host.sock").exists():
            self("host", "stop", "--home", str(self.home))

    def run_id(self) -> str:
        """The newest run's ID."""
        return str(self("runs", "--json", "--limit", "1").document["items"][0]["run_id"])


_NORMAL = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)"), "<time>"),
    (re.compile(r"\b\d+:[0-9a-f]{64}\b"), "<head>"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "<sha256>"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "<hex>"),
    (re.compile(r"\b0[0-9a-hjkmnp-tv-z]{19}\b"), "<id>"),
    (re.compile(r"\b[0-9a-f]{12}\b(?= (done|not-done))|(?<=effect )[0-9a-f]{12}\b"), "<effect>"),
)
#: Fields whose values differ from run to run by their nature.
_VARIES = {"at", "bytes", "pid", "start", "boot", "namespace", "seconds"}


def normal(value: Any, tmp: Path) -> Any:
    """A document without what differs from run to run: IDs, times, hashes, sizes and places."""
    if isinstance(value, dict):
        return {
            name: "<varies>" if name in _VARIES and each is not None else normal(each, tmp)
            for name, each in value.items()
        }
    if isinstance(value, list):
        return [normal(each, tmp) for each in value]
    if isinstance(value, int) and value > 10**14:
        return "<microseconds>"
    if isinstance(value, str):
        value = value.replace(str(tmp), "<tmp>")
        for pattern, name in _NORMAL:
            value = pattern.sub(name, value)
    return value
