"""``runwright host``: the process that drives runs for everybody else."""

import logging
import os
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from runwright.cli.command import Family, intent, takes_store
from runwright.cli.failures import UNAVAILABLE, Failure, Refused
from runwright.cli.hosting import GRACE, MARGIN, host_if_any, host_lives, start_if_none, stop_host, when_free
from runwright.cli.invocation import Invocation, user_folder
from runwright.cli.settings import redact_after_of
from runwright.cli.texts import WholeNumber

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runwright.engine.client.client import Client


#: Whoever gives it vouches for what this machine cannot see.
_vouches = click.option(
    "--old-host-gone",
    is_flag=True,
    help="You know that nothing of an earlier host lives in another container.",
)


@click.group("host", cls=Family)
def command() -> None:
    """The process that drives runs: run, start, status, stop."""


@intent("run", example="runwright host run\nrunwright host run --home /srv/runwright -v")
@click.option("--capacity", type=WholeNumber(1, 1024), metavar="N", help="Drive at most N runs at once.")
@click.option("--idle-exit", metavar="T", help="End after so long without anything to do; 0 for never.")
@_vouches
@takes_store
def run(call: Invocation, capacity: int | None, idle_exit: str | None, old_host_gone: bool) -> None:
    """Be the host, in the foreground, until Ctrl-C or `host stop`.

    For a service manager; elsewhere `run` and `start` begin one in the background by themselves.
    """
    from runwright.cli.durations import parse_duration
    from runwright.cli.hosting import held_elsewhere
    from runwright.engine.host.host import run_host
    from runwright.engine.host.readiness import VARIABLE
    from runwright.engine.host.settings import HostSettings, default_capacity
    from runwright.eventstore.errors import StoreInUse

    background = VARIABLE in os.environ
    if background:  # in the background stderr is the very file that the host itself logs to
        logging.getLogger("runwright").handlers.clear()
        call.out.quiet = True
    # This one stays unless somebody wants it otherwise: the setting's default is for those in the background.
    idle = parse_duration(idle_exit, "--idle-exit") if idle_exit is not None else call.settings.given("idle_exit")
    number = capacity if capacity is not None else call.settings.get("capacity").value
    settings = HostSettings(
        capacity=number if isinstance(number, int) else default_capacity(),
        idle_exit=idle if isinstance(idle, float) else None,
        user=user_folder(),
        agents=_agents_of,
        unsafe_filesystem=call.flags.unsafe_filesystem,
        old_host_gone=old_host_gone,
        redact_after=redact_after_of,
    )
    try:
        serve = partial(run_host, call.home, settings, ready=partial(call.out.say, "The host serves. Ctrl-C stops it."))
        # In the background it waits for the lock by itself; by the time it gives up, whoever started it is told so.
        serve() if background else when_free(call, serve)
    except StoreInUse as error:
        if host_lives(call):
            raise _lives_already() from None
        raise held_elsewhere(call, error.message) from None


@intent("start", example="runwright host start")
@_vouches
@takes_store
def start(call: Invocation, old_host_gone: bool) -> None:
    """Start the host in the background, and return when it serves.

    Where one lives already, nothing is done.
    """
    with host_if_any(call, staying=True) as client:
        begun = client is None and start_if_none(call, old_host_gone=old_host_gone)
    if call.out.for_machines:
        call.out.document({"action": "host start", "started": begun})
    else:
        call.out.say("The host serves." if begun else "A host serves here already.")


@intent("status", example="runwright host status")
def status(call: Invocation) -> None:
    """Say whether a host lives, what it is at, and which errors it met last.

    Counts and times only: no paths, no prompts, no process IDs. Exits 4 where none lives.
    """
    with host_if_any(call) as client:
        if client is None:
            raise _none()
        facts = client.host_status()
    if call.out.for_machines:
        call.out.document(facts)
        return
    from runwright.cli.rendering.hosts import host_lines

    call.out.show(*host_lines(facts, time.time_ns() // 1000))


@intent("stop", example="runwright host stop\nrunwright host stop --timeout 1m")
@click.option("--timeout", metavar="T", help="Give steps under way so long to end (10s); later ones are run again.")
def stop(call: Invocation, timeout: str | None) -> None:
    """Stop the host: nothing new begins, runs stop at their next step, and its process ends; prints the head to keep.

    What is under way goes on when a host is started again, and loses nothing that was acknowledged.
    """
    from runwright.cli.durations import parse_duration
    from runwright.eventstore.home import Home
    from runwright.eventstore.store_id import noted
    from runwright.eventstore.verdict import format_head

    grace = GRACE if timeout is None else parse_duration(timeout, "--timeout")
    with host_if_any(call) as client:
        stopped = client is not None and _stop(call, client, grace)
    # The one that its holder left beside the store: reading it there needs no database.
    last = noted(Home(call.home)) if stopped else None
    head = None if last is None else format_head(last)
    if call.out.for_machines:
        call.out.document({"action": "host stop", "stopped": stopped, "head": head})
        return
    call.out.say("The host has stopped." if stopped else "No host lives here.")
    if head is not None:
        call.out.say("Keep this head of its log, for `runwright log verify --head`:")
        call.out.data(head)


for _each in (run, start, status, stop):
    command.add_command(_each)


def _stop(call: Invocation, client: "Client", grace: float) -> bool:
    if stop_host(call.home, client, grace):
        return True
    raise Refused(
        Failure(
            code="host_unavailable",
            message=f"The host did not end within {grace + MARGIN:.0f} seconds",
            hint="`runwright host status` says what it is at; `runwright store status` names its process",
            exit_code=UNAVAILABLE,
        )
    )


def _none() -> Refused:
    return Refused(
        Failure(
            code="host_unavailable",
            message="No host lives here",
            hint="`runwright run` and `runwright start` begin one by themselves; `runwright host start` does only that",
            exit_code=UNAVAILABLE,
        )
    )


def _lives_already() -> Refused:
    return Refused(
        Failure(
            code="store_in_use",
            message="A host lives here already",
            hint="`runwright host status` says how it is; `runwright host stop` ends it",
            exit_code=UNAVAILABLE,
        )
    )


def _agents_of(project: Path | None) -> "Mapping[str, str]":
    """The executors that a project's settings name, with the default one under its name."""
    from runwright.cli.agent_specs import settled_agents
    from runwright.cli.settings import load_settings

    return {} if project is None else settled_agents(load_settings(project))
