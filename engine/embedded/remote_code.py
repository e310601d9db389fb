"""A workflow's code that is somewhere else: each question goes out as JSON and comes back as JSON, also a refusal."""

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias, TypeVar, assert_never

from attrs import frozen

from runwright.engine.authoring.conversion import NotConvertible, to_json
from runwright.engine.embedded.code import (
    Answer,
    AnswerFits,
    AnswerGiven,
    Checked,
    Checking,
    Code,
    Ended,
    Instructions,
    NotPrepared,
    Prepared,
    Presented,
    ProgramDiffers,
    ProgramFacts,
    ResultFits,
    ResultGiven,
    Starting,
    Wanted,
)
from runwright.engine.errors import ActivationFailed, EngineError, InputInvalid
from runwright.engine.protocol.envelopes import Failure
from runwright.engine.protocol.failures import error_of, failure_of
from runwright.engine.wire.errors import RecordRefused
from runwright.engine.wire.records import read, write
from runwright.eventstore.values import Json, JsonObject

T = TypeVar("T")

#: What failed where whoever was asked answered something else.
_CHECK: Final = "asking the process that loaded it"


@frozen(kw_only=True)
class Load:
    """`Code.load`."""

    wanted: Wanted


Question: TypeAlias = Load | Starting | Checking | AnswerGiven | ResultGiven | Ended
Reply: TypeAlias = (
    ProgramFacts | Prepared | Checked | AnswerFits | ProgramDiffers | ResultFits | Instructions | NotPrepared
)


#: What is done to answer each.
_DOING: Final[dict[type[Question], str]] = {
    Load: "loading it",
    Starting: "loading it and checking its input",
    Checking: "checking it",
    AnswerGiven: "loading it and checking the answer",
    ResultGiven: "loading it and checking the result",
    Ended: "working out its presentation",
}


@frozen(kw_only=True)
class Asked:
    """One question, with the value that stands beside it."""

    question: Question
    value: Json = None


@frozen(kw_only=True)
class Replied:
    """What it was answered, or why it was refused."""

    reply: Reply | None = None
    refusal: Failure | None = None


class NoAnswer(Exception):
    """Whoever was asked did not answer.

    Attributes:
        how: Completes what it was to do: "within 90 seconds".
    """

    def __init__(self, how: str) -> None:
        super().__init__(how)
        self.how = how


#: Carries a question to whoever has the code, and its answer back; raises where that cannot be done, `NoAnswer` too.
Carry = Callable[[Wanted, JsonObject], Awaitable[JsonObject]]


class RemoteCode:
    """Is `Code` by asking somebody else.

    A reply that is no answer to what was asked raises `ActivationFailed`: user code had its hands in it.

    Args:
        carry: Takes the program that a question is about, which says where its code belongs, and the question.
    """

    def __init__(self, carry: Carry) -> None:
        self._carry = carry

    async def load(self, wanted: Wanted) -> ProgramFacts:
        """As `Code.load`."""
        return _only(ProgramFacts, await self._ask(wanted, Load(wanted=wanted)))

    async def prepare(self, starting: Starting, value: object) -> Prepared:
        """As `Code.prepare`."""
        return _only(Prepared, await self._ask(starting.wanted, starting, value, "input"))

    async def check(self, checking: Checking, value: object = None) -> Checked:
        """As `Code.check`."""
        return _only(Checked, await self._ask(checking.wanted, checking, value, "input"))

    async def answer(self, given: AnswerGiven, value: object) -> Answer:
        """As `Code.answer`."""
        reply = await self._ask(given.wanted, given, value, "answer")
        return reply if isinstance(reply, AnswerFits) else _only(ProgramDiffers, reply)

    async def result(self, given: ResultGiven, value: object) -> ResultFits:
        """As `Code.result`."""
        return _only(ResultFits, await self._ask(given.wanted, given, value, "result"))

    async def present(self, ended: Ended) -> Presented:
        """As `Code.present`."""
        reply = await self._ask(ended.wanted, ended)
        return reply if isinstance(reply, Instructions) else _only(NotPrepared, reply)

    async def _ask(self, wanted: Wanted, question: Question, value: object = None, what: str = "") -> Reply | None:
        asked = Asked(question=question, value=_plain(value, what))
        try:
            answer = await self._carry(wanted, write(asked))
        except NoAnswer as none:
            raise ActivationFailed(f"{_DOING[type(question)]} {none.how}") from None
        try:
            replied = read(Replied, answer)
        except RecordRefused:
            raise ActivationFailed(_CHECK) from None
        if replied.refusal is not None:
            raise error_of(replied.refusal)
        return replied.reply


def _only(kind: type[T], reply: object) -> T:
    if not isinstance(reply, kind):
        raise ActivationFailed(_CHECK)
    return reply


def _plain(value: object, what: str) -> Json:
    try:
        return to_json(value, Any)
    except NotConvertible as problem:
        raise InputInvalid(problem.path, problem.problem, what) from None


async def reply_to(code: Code, asked: JsonObject) -> JsonObject:
    """Answer a question where the code is; a refusal of the engine's own is an answer, too.

    Raises:
        RecordRefused: It is no question.
    """
    message = read(Asked, asked)
    try:
        reply = await _reply(code, message.question, message.value)
    except EngineError as error:
        return write(Replied(refusal=failure_of(error)))
    return write(Replied(reply=reply))


async def _reply(code: Code, question: Question, value: Json) -> Reply:
    match question:
        case Load(wanted=wanted):
            return (await code.load(wanted)).bare
        case Starting():
            return await code.prepare(question, value)
        case Checking():
            return await code.check(question, value)
        case AnswerGiven():
            return await code.answer(question, value)
        case ResultGiven():
            return await code.result(question, value)
        case Ended():
            return await code.present(question)
        case never:
            assert_never(never)
