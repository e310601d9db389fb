"""The rules of a worker's channel: who may speak, in which order, and how much."""

from collections.abc import Callable

from runwright.engine.bucket import Bucket
from runwright.engine.commands.worker import Authority
from runwright.engine.host.limits import (
    MESSAGES_A_SECOND,
    MESSAGES_AT_ONCE,
    RENEWALS_A_SECOND,
    RENEWALS_AT_ONCE,
)
from runwright.engine.worker.messages import FromChild, FromWorker, Renew, Resolved, Unresolved


class RulesBroken(Exception):
    """A worker does what no worker does.

    Attributes:
        problem: What, in words of ours: it completes the sentence "The worker was stopped: …".
    """

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


class Rules:
    """What is checked of each message before anybody acts on it.

    Args:
        authority: The claim that the worker was launched with.
        monotonic: The clock.
    """

    def __init__(self, authority: Authority, monotonic: Callable[[], float]) -> None:
        self._authority = authority
        self._messages = Bucket(MESSAGES_AT_ONCE, MESSAGES_A_SECOND, monotonic)
        self._renewals = Bucket(RENEWALS_AT_ONCE, RENEWALS_A_SECOND, monotonic)

    def check(self, message: FromChild) -> FromWorker:
        """Let a message through.

        Raises:
            RulesBroken: It is too much, or not one of this worker.
        """
        if isinstance(message, Resolved | Unresolved):
            raise RulesBroken("it answered a question that nobody asked")
        bucket = self._renewals if isinstance(message, Renew) else self._messages
        if not bucket.take():
            raise RulesBroken("it sent far more messages than a run can need")
        claim = self._authority
        if (message.run_id, message.worker) != (claim.run_id, claim.worker):
            raise RulesBroken("it spoke for another worker")
        if message.generation != claim.generation:
            raise RulesBroken("it spoke for another generation")
        return message
