"""What a person is asked, and what was decided."""

from __future__ import annotations  # kept unread: reading them would cost more than the rest of the import

from datetime import datetime
from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runwright.eventstore.values import Json


@frozen
class Choice:
    """One answer that a person can give.

    Attributes:
        name: What routes and answers name it by.
        label: What people see.
        text: ``None``: takes no text; else what to write into it, shown as a hint.
    """

    name: str
    label: str = field(default="", kw_only=True)
    text: str | None = field(default=None, kw_only=True)


@frozen
class Question:
    """What a person is asked.

    Attributes:
        title: The question.
        facts: What to know before answering.
        subject: What is being decided on; its digest is recorded with the answer.
    """

    title: str
    facts: Mapping[str, Json] = field(factory=dict, kw_only=True)
    subject: Json = field(default=None, kw_only=True)


@frozen
class Decided:
    """What was decided, by whom and when; ``timed_out`` where the declared policy did."""

    choice: str
    text: str | None
    by: str
    at: datetime
    timed_out: bool
