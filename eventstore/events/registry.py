"""The full registry: importing this module loads every event class."""

from runwright.eventstore.events import (
    command,
    definition,
    effect,
    event,
    host,
    log,
    message,
    node,
    request,
    run,
    session,
    timer,
    turn,
    worker,
)

MODULES = (command, definition, effect, host, log, message, node, request, run, session, timer, turn, worker)

#: Every event class under the name that the log stores.
REGISTRY: dict[str, type[event.Event]] = event.registered()
