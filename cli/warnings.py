"""What the engine logs, on stderr: warnings always, and with ``-v`` everything, tracebacks included."""

import logging
from typing import TextIO

from runwright.cli.rendering.text import clean


class CleanFormatter(logging.Formatter):
    """Writes records that cannot steer a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one record, with its traceback where it has one."""
        return clean(f"{record.levelname.lower()}: {super().format(record)}")


def show_warnings(stream: TextIO, *, verbose: bool) -> None:
    """Send what Runwright logs to a stream, and nothing of anybody else's."""
    logger = logging.getLogger("runwright")
    for old in list(logger.handlers):
        logger.removeHandler(old)
    handler = logging.StreamHandler(stream)
    handler.setFormatter(CleanFormatter())
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG if verbose else logging.WARNING)
    logger.propagate = False
