"""What can be wrong with what came over a channel; named by its problem, never by its content."""


class WireError(Exception):
    """The other side broke the rules of the channel.

    Attributes:
        code: The stable code.
        message: What is wrong, one sentence without anything that was sent.
    """

    code = "protocol_rejected"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class FrameRefused(WireError):
    """A line is no frame; nothing behind it on that channel can be trusted."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"A frame {problem}.")


class PartRefused(WireError):
    """A part of a large message does not fit what was announced."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"A message in parts {problem}.")


class RecordRefused(WireError):
    """A message does not have the fields that its type has.

    Attributes:
        path: Where, in names of ours: ``$.transitions[2].visit``.
    """

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path} {problem}.")
        self.path = path
        self.problem = problem
