"""Answers one question about a workflow's code; a refusal is an answer, too."""

import asyncio
import os
from contextlib import suppress

from runwright.engine.embedded.catalog import Catalog
from runwright.engine.embedded.local_code import LocalCode
from runwright.engine.embedded.remote_code import reply_to
from runwright.engine.worker.messages import Ask, Resolved, Unresolved


def resolve(ask: Ask) -> Resolved | Unresolved:
    """Answer, or say safely why there is no answer."""
    os.environ.update(ask.environment)
    with suppress(OSError):  # a folder that is gone fails what needs it
        os.chdir(ask.cwd)
    try:
        return Resolved(answer=asyncio.run(reply_to(LocalCode(Catalog(user=ask.user)), ask.question)))
    except Exception as error:  # noqa: BLE001 - whatever the user's modules do, the host has to hear of it
        return Unresolved(problem=f"it raised {type(error).__name__}")
