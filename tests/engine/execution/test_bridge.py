"""Answers of the writer thread reach the loop, many with one wake-up."""

import asyncio
import threading
from concurrent.futures import Future

import pytest

from runwright.engine.execution.bridge import LoopBridge


async def test_many_answers_one_wake_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch that is answered while the loop is busy wakes it once."""
    loop = asyncio.get_running_loop()
    wakes = []
    wake = loop.call_soon_threadsafe

    def counted(*args: object) -> object:
        wakes.append(args)
        return wake(*args)  # type: ignore[arg-type]  # handed on as it came

    monkeypatch.setattr(loop, "call_soon_threadsafe", counted)
    bridge = LoopBridge(loop)
    answers: list[Future[int]] = [Future() for _ in range(50)]
    waiters = [bridge.wrap(answer) for answer in answers]

    def answer_all() -> None:
        for number, answer in enumerate(answers):
            answer.set_result(number)

    writer = threading.Thread(target=answer_all)
    writer.start()
    writer.join()
    assert [await waiter for waiter in waiters] == list(range(50))
    assert len(wakes) == 1


async def test_errors_pass() -> None:
    """A unit that failed raises where it is awaited."""
    bridge = LoopBridge(asyncio.get_running_loop())
    answer: Future[int] = Future()
    waiter = bridge.wrap(answer)
    answer.set_exception(KeyError("stream"))
    with pytest.raises(KeyError):
        await waiter


async def test_a_cancelled_waiter_takes_nothing_back() -> None:
    """Giving up on an answer cancels neither the unit nor its neighbours."""
    bridge = LoopBridge(asyncio.get_running_loop())
    given_up: Future[int] = Future()
    kept: Future[int] = Future()
    first, second = bridge.wrap(given_up), bridge.wrap(kept)
    first.cancel()
    given_up.set_result(1)
    kept.set_result(2)
    assert await second == 2
    assert not given_up.cancelled()


def test_answers_after_the_loop_closed() -> None:
    """An answer that comes after the loop was closed disturbs nobody."""
    loop = asyncio.new_event_loop()
    bridge = LoopBridge(loop)
    answer: Future[int] = Future()
    bridge.wrap(answer)
    loop.close()
    answer.set_result(1)
    assert answer.result() == 1
