"""Every operation of the protocol as a method, listed once for clients that answer and for those that are awaited."""

import functools
from abc import abstractmethod
from collections.abc import Awaitable, Callable
from typing import Any, Generic, ParamSpec, Self, TypeVar, overload

from runwright.engine.client import calls, session_calls
from runwright.engine.client.asking import Steps

P = ParamSpec("P")
T = TypeVar("T")


class Operation(Generic[P, T]):
    """An operation's function as a method of either kind of client."""

    def __init__(self, steps: Callable[P, Steps[T]]) -> None:
        self._steps = steps
        self.__doc__ = steps.__doc__

    @overload
    def __get__(self, client: None, kind: type) -> Self: ...
    @overload
    def __get__(self, client: "Blocking", kind: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: "Asynchronous", kind: type) -> Callable[P, Awaitable[T]]: ...
    def __get__(self, client: "Operations | None", kind: type) -> object:
        if client is None:
            return self

        @functools.wraps(self._steps)
        def method(*args: P.args, **kwargs: P.kwargs) -> object:
            return client.carry(self._steps(*args, **kwargs))

        return method


class Operations:
    """The operations of a client."""

    workflow_list = Operation(calls.workflow_list)
    workflow_check = Operation(calls.workflow_check)
    run_start = Operation(calls.run_start)
    run_pause = Operation(calls.run_pause)
    run_resume = Operation(calls.run_resume)
    run_cancel = Operation(calls.run_cancel)
    run_restart = Operation(calls.run_restart)
    run_follow_up = Operation(calls.run_follow_up)
    run_status = Operation(calls.run_status)
    run_list = Operation(calls.run_list)
    run_output = Operation(calls.run_output)
    run_logs = Operation(calls.run_logs)
    request_list = Operation(calls.request_list)
    request_get = Operation(calls.request_get)
    request_submit = Operation(session_calls.request_submit)
    request_update = Operation(session_calls.request_update)
    request_answer = Operation(calls.request_answer)
    request_decide = Operation(session_calls.request_decide)
    effect_get = Operation(calls.effect_get)
    effect_resolve = Operation(calls.effect_resolve)
    session_attach = Operation(session_calls.session_attach)
    session_detach = Operation(session_calls.session_detach)
    session_settled = Operation(session_calls.session_settled)
    session_report = Operation(session_calls.session_report)
    session_view = Operation(session_calls.session_view)
    turn_begun = Operation(session_calls.turn_begun)
    turn_ended = Operation(session_calls.turn_ended)
    view_get = Operation(calls.view_get)
    view_page = Operation(calls.view_page)
    events_read = Operation(calls.events_read)
    content_read = Operation(calls.content_read)
    projection_list = Operation(calls.projection_list)
    projection_query = Operation(calls.projection_query)
    projection_verify = Operation(calls.projection_verify)
    projection_rebuild = Operation(calls.projection_rebuild)
    log_head = Operation(calls.log_head)
    log_redact = Operation(calls.log_redact)
    store_backup = Operation(calls.store_backup)
    host_status = Operation(calls.host_status)
    host_stop = Operation(calls.host_stop)

    @abstractmethod
    def carry(self, steps: Steps[Any]) -> Any:
        """Ask what a question's steps ask, and answer what comes of them."""
        ...


class Blocking(Operations):
    """A client whose methods answer."""


class Asynchronous(Operations):
    """A client whose methods are awaited."""
