"""Where in the user's files something was written."""

import sys
from types import FrameType

from attrs import frozen

_HERE = __file__.rpartition("/")[0]


@frozen
class Origin:
    """A line of a file."""

    file: str
    line: int


def calling_frame() -> FrameType:
    """The nearest frame outside this package: the user's call."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith(_HERE) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def calling_line() -> Origin:
    """The file and line of the user's call."""
    frame = calling_frame()
    return Origin(frame.f_code.co_filename, frame.f_lineno)
