"""Being the host of a state directory; what takes long to import is imported while its fork server starts."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from runwright.engine.host.exec_server import begin_own
from runwright.engine.host.host_log import HostLog
from runwright.engine.host.readiness import NotReady, Readiness
from runwright.engine.host.settings import HostSettings
from runwright.eventstore.errors import StoreError
from runwright.eventstore.home import Home

if TYPE_CHECKING:
    from runwright.eventstore.envelope import Head


def run_host(home: Path, settings: HostSettings, *, ready: Callable[[], object] = lambda: None) -> "Head | None":
    """Be the host of a state directory until somebody stops it.

    Args:
        home: The state directory; it is made where there is none.
        settings: How.
        ready: Called once it serves.

    Returns:
        The log's head, to be kept elsewhere; ``None`` where the end could not be recorded.

    Raises:
        StoreInUse: Another process holds the store; and the other errors of `EventLog.open`.
    """
    readiness = Readiness.taken()
    try:
        place = Home(home)
        place.prepare()
        handler = HostLog(place.host_log)
    except StoreError as error:
        readiness.say(NotReady(error.code, error.message, error.hint))
        raise
    logger = logging.getLogger("runwright")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        # By exec, and before the store's lock is taken: no child can ever hold it.
        begun = begin_own()
        from runwright.engine.host.holding import hold

        return hold(place, settings, readiness, ready, begun)
    except StoreError as error:
        readiness.say(NotReady(error.code, error.message, error.hint))
        raise
    finally:
        logger.removeHandler(handler)
        handler.close()
