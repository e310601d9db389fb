"""C87: whoever is asked how a run stands says the same at the same revision, and it is what the log says there."""

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from runwright.engine.client.client import Client
from runwright.engine.reading.reader import Reader
from support.command_line import CommandLine
from support.command_processes import LIMIT
from support.sound import check_sound

FLOW = f'''"""An agent, a command inside a mounted child, a step that kills its worker once, and a person."""

import os
import signal
import time

from runwright import Context, Question, Workflow

child = Workflow("child")
flow = Workflow("mixed")


@child.shell(recovery="idempotent")
def command(ctx: Context) -> list[str]:
    return [{sys.executable!r}, "-c", "print('done')"]


child.entry(command)
inside = flow.include("inside", child, input=lambda ctx: {{}})
came = child.exit("came", command)


@flow.agent(returns=int)
def ask(ctx: Context) -> str:
    return "how many?"


@flow.action(recovery="idempotent")
def deadly(ctx: Context) -> int:
    (ctx.cwd / f"try-{{len(list(ctx.cwd.glob('try-*')))}}").touch()
    if not (ctx.cwd / "try-1").exists():
        os.kill(os.getpid(), signal.SIGKILL)
    return 1


@flow.decision(choices=("go", "stop"))
def person(ctx: Context) -> Question:
    return Question("Go on?")


@flow.compute
def last(ctx: Context) -> str:
    time.sleep(0.2)
    return "end"


flow.entry(ask)
flow.then(ask, inside)
flow.then(inside[came], deadly)
flow.then(deadly, person)
flow.then(person, last)
'''
#: What every reader tells of a run, beside its revision.
FACTS = (
    "status",
    "run_status",
    "queue_state",
    "node",
    "visit",
    "attempt",
    "started_at",
    "finished_at",
    "error",
    "next",
)
Reads = Mapping[str, Callable[[], Any]]


class Readers:
    """Everybody who can be asked, and what they said.

    Attributes:
        said: By revision and by reader: the facts.
        positions: By revision: a position at which the run had it.
    """

    def __init__(self, cli: CommandLine, client: Client, run_id: str) -> None:
        self.said: dict[int, dict[str, Any]] = defaultdict(dict)
        self.positions: dict[int, int] = {}
        self._home, self._run_id = cli.home, run_id
        self.quick: Reads = {
            "protocol": lambda: client.run_status(run_id),
            "list": lambda: only(client.run_list()["items"]),
            "view": lambda: client.view_get(run_id)["status"],
            "reader": self._beside,
        }
        self.slow: Reads = {
            "status": lambda: cli("status", run_id, "--json").document,
            "runs": lambda: only(cli("runs", "--json").document["items"]),
            "show": lambda: cli("show", run_id, "--json").document["status"],
        }

    def ask(self, reads: Reads) -> dict[str, Any]:
        """Ask each of them; answers what the last one said."""
        found: dict[str, Any] = {}
        for name, read in reads.items():
            found = read()
            facts = {each: found[each] for each in FACTS}
            assert self.said[found["revision"]].setdefault(name, facts) == facts, name
            self.positions[found["revision"]] = found["position"]
        return found

    def settled(self) -> dict[str, Any]:
        """Ask everybody while the run stands still: then all say the same."""
        found = self.ask({**self.quick, **self.slow})
        assert self.said[found["revision"]].keys() == {*self.quick, *self.slow}
        return found

    def _beside(self) -> Any:
        with Reader.open(self._home) as reader:
            return reader.status(self._run_id).document()


def only(items: Any) -> Any:
    """The only one there is."""
    (found,) = items
    return found


def test_c87_every_reader_says_what_the_log_says(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through an agent, a mounted command, a crash and a decision, by the protocol, the command line and the file."""
    monkeypatch.setenv("RUNWRIGHT_IDLE_EXIT", "60")
    (cli.project / "mixed.py").write_text(FLOW)
    run_id = cli("start", "mixed.py:flow", "--agent", f"cmd:{sys.executable} -c print(1)").out.strip()
    until = time.monotonic() + LIMIT
    with Client.connect(cli.home) as client:
        readers = Readers(cli, client, run_id)
        while readers.ask(readers.quick)["status"] != "waiting":
            assert time.monotonic() < until
        waits = readers.settled()
        assert (waits["node"], waits["queue_state"], waits["run_status"]) == ("person", "parked", "waiting")
        (request,) = waits["requests"]
        client.request_decide(request["request_id"], "go", by="Ada")
        while readers.ask(readers.quick)["finished_at"] is None:
            assert time.monotonic() < until
        assert readers.settled()["status"] == "completed"
        with Reader.open(cli.home) as reader:
            outcomes = {row["outcome"] for row in reader.query("workers").items}
            for revision, said in readers.said.items():
                facts = only({repr(sorted(each.items())): each for each in said.values()}.values())
                rows: Any = reader.replay(run_id, at=readers.positions[revision])["rows"]
                run, queue = only(rows["runs"]), only(rows["queue"])
                told = [facts[each] for each in ("run_status", "node", "visit", "attempt")]
                # Before its first node a run has no visit.
                assert told == [run["status"], run["node"], run["visit"] or None, run["attempt"] or None]
                assert facts["queue_state"] == queue["state"]
                assert (facts["finished_at"] is None) == (run["finished_at"] is None)
                if facts["status"] == "running":
                    assert queue["owner"] is not None, "only under a live claim"
    assert "crashed" in outcomes
    assert len(readers.said) > 1
    check_sound(cli.home)
