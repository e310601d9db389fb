"""What the engine raises, as one small tree of errors that write their own sentences.

EngineError
├── ConflictError            another fact stands in the way of a command
├── RecoveryRequiredError    the saved state needs an operator first
├── NotFound                 there is no run, effect or request of that name
├── AmbiguousId              a part of an ID fits several
├── AnswerRejected           a candidate was recorded, and will not do
└── PreflightError           a start was refused, and left no trace
    ├── Unloadable           the program cannot be had here
    │   ├── WorkflowNotFound
    │   ├── WorkflowInvalid
    │   └── InterpreterUnusable
    ├── InputInvalid
    │   └── AnswerRefused
    ├── AgentMissing
    ├── SessionMissing
    ├── SourceChanged
    ├── Unsupported
    ├── NameUnsaved
    └── ActivationFailed

No message holds a private value: it names checks, names, paths, digests and types.
"""

import os
import shlex
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from runwright.engine.codes import HINTS
from runwright.engine.refusals import named, next_step, sentence
from runwright.engine.results import Conflict, RecoveryRequired


class EngineError(Exception):
    """The parent of all errors of the engine.

    Attributes:
        code: The stable code.
        message: What is wrong, one sentence.
        hint: The next step.
    """

    code: str = "engine_error"

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ConflictError(EngineError):
    """Another fact stands in the way; nothing was changed.

    Attributes:
        evidence: The safe facts that show it.
    """

    def __init__(self, conflict: Conflict) -> None:
        code, evidence = conflict.code, conflict.evidence
        super().__init__(sentence(code, evidence), next_step(code, evidence))
        self.code = conflict.code
        self.evidence = MappingProxyType(dict(conflict.evidence))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (Conflict(self.code, dict(self.evidence)),)


class RecoveryRequiredError(EngineError):
    """The saved state needs an operator or a recovery step first; nothing was changed.

    Attributes:
        evidence: The safe facts that show it.
    """

    def __init__(self, required: RecoveryRequired) -> None:
        super().__init__(sentence(required.reason, required.evidence), next_step(required.reason, required.evidence))
        self.code = required.reason
        self.evidence = MappingProxyType(dict(required.evidence))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (RecoveryRequired(self.code, dict(self.evidence)),)


#: The next step by what is missing; an ID by default.
_NOT_FOUND: Mapping[str, str] = MappingProxyType(
    {
        "run": "`runwright runs` lists the runs; their last six characters are enough",
        "effect": "`runwright effects` lists the effects; their last six characters are enough",
        "node": "`runwright show RUN` shows its nodes",
        "visit of node": "`runwright show RUN` shows which nodes it came to",
        "request": "`runwright requests` lists what waits for an answer; the last six characters are enough",
        "step": "give a --step that there is",
    }
)


class NotFound(EngineError):
    """There is no run, effect, request or session of that name; ``what`` says which of them."""

    code = "not_found"

    def __init__(self, what: str, identity: str) -> None:
        super().__init__(f"There is no {what} {identity}.", _NOT_FOUND.get(what, HINTS[self.code]))
        self.what = what
        self.identity = identity

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.what, self.identity)


class AmbiguousId(EngineError):
    """A part of an ID fits several; ``candidates`` are some of them, whole."""

    code = "ambiguous_id"

    def __init__(self, what: str, part: str, candidates: Sequence[str]) -> None:
        self.candidates = tuple(candidates)
        super().__init__(f"{part} fits several {what}s: {', '.join(self.candidates)}.", HINTS[self.code])
        self.what = what
        self.part = part

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.what, self.part, self.candidates)


class AnswerRejected(EngineError):
    """A candidate for an agent's request was recorded, checked, and will not do.

    Attributes:
        request_id: The request.
        reason: Why, exact enough to correct it.
        left: How many further candidates the attempt takes; 0 where this one ended it.
    """

    def __init__(self, request_id: str, code: str, reason: str, left: int) -> None:
        super().__init__(
            f"The answer to request {request_id} was refused: {reason}.",
            f"correct it and submit again; {left} more can be" if left else "the attempt is over; the run goes on",
        )
        self.code = code
        self.request_id = request_id
        self.reason = reason
        self.left = left

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.request_id, self.code, self.reason, self.left)


class PreflightError(EngineError):
    """A start was refused before anything was written."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message, HINTS[self.code] if hint is None else hint)

    def __reduce__(self) -> tuple[object, ...]:
        return _revive, (type(self), self.args, self.__dict__)


def _revive(cls: type[PreflightError], args: tuple[object, ...], facts: dict[str, object]) -> PreflightError:
    """Rebuild a copied or unpickled error without its own constructor's arguments."""
    error = cls.__new__(cls)
    error.args = args
    error.__dict__.update(facts)
    return error


class Unloadable(PreflightError):
    """The program of a run cannot be had here, whatever it is asked."""


class WorkflowNotFound(Unloadable):
    """Nothing can be started under that name, file or import path."""

    code = "workflow_not_found"

    def __init__(self, reference: str, why: str = "there is no such workflow") -> None:
        super().__init__(f"Workflow {reference} was not found: {why}.")
        self.reference = reference


class WorkflowInvalid(Unloadable):
    """The definition does not hold; ``problems`` are all of its faults, one line each."""

    code = "workflow_invalid"

    def __init__(self, workflow: str, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        first = f" {self.problems[0]}" if self.problems else ""
        super().__init__(f"Workflow {workflow} has {count} {'fault' if count == 1 else 'faults'}.{first}")
        self.workflow = workflow


class InterpreterUnusable(Unloadable):
    """The Python that a run names cannot load its code; ``why`` says what is wrong with it."""

    code = "interpreter_unusable"

    def __init__(self, interpreter: str, why: str, fix: str | None = None) -> None:
        super().__init__(f"The interpreter {interpreter} cannot be used: {why}.", fix)
        self.interpreter = interpreter
        self.why = why


#: The next step by what does not fit; the input by default.
_UNFIT: Mapping[str, str] = MappingProxyType(
    {
        "answer": "`runwright requests` shows what is asked; answer again",
        "result": "give a result of the node's own type",
    }
)


class InputInvalid(PreflightError):
    """What was handed in does not fit.

    Attributes:
        path: Where (``$.a[1].b``), never what stands there.
        problem: Why.
        what: What it was: the ``input`` of a run, the ``answer`` to a request, or the ``result`` of an effect.
    """

    code = "input_invalid"

    def __init__(self, path: str, problem: str, what: str = "input") -> None:
        super().__init__(f"The {what} does not fit at {path}: {problem}.", _UNFIT.get(what))
        self.path = path
        self.problem = problem
        self.what = what


class AnswerRefused(InputInvalid):
    """What was answered fits its type, and the node's own check refuses it for the reason that it gives."""


class InputRefused(PreflightError):
    """What somebody typed to fill an input cannot be read, or does not fit its field.

    Attributes:
        path: Where in the input, never what was typed.
    """

    code = "input_invalid"

    def __init__(self, message: str, hint: str, *, path: str) -> None:
        super().__init__(message, hint)
        self.path = path


class AgentMissing(PreflightError):
    """A node asks for an executor that nobody named."""

    code = "agent_missing"

    def __init__(self, node: str, by: str) -> None:
        super().__init__(f"Node {node} asks for the executor {by!r}, and there is none.")
        self.node = node
        self.by = by


class SessionMissing(PreflightError):
    """A node asks the run's session, and the run would have none."""

    code = "agent_missing"

    def __init__(self, node: str) -> None:
        super().__init__(f"Node {node} asks the run's session, and the run has none.", "start it in a session")
        self.node = node


class AgentUnasked(PreflightError):
    """An executor was named for a start, and no node asks for it."""

    code = "agent_missing"

    def __init__(self, name: str, hint: str) -> None:
        super().__init__(f"No node asks for the executor {name!r}.", hint)
        self.name = name


class SourceChanged(PreflightError):
    """The files or the definition are not those that were saved; ``files`` names what differs.

    Args:
        workflow: The workflow.
        files: What differs.
        ended: The reference that a run which has ended was started by: such a run takes no other files.
    """

    code = "source_changed"

    def __init__(self, workflow: str, files: Sequence[str], *, ended: str | None = None) -> None:
        self.files = tuple(files)
        hint = None
        if ended is not None:
            line = shlex.join(["runwright", "start", ended])
            hint = f"put the files back, or start the workflow as it is now, with its input: `{line}`"
        super().__init__(f"The sources of {workflow} have changed{named(self.files)}.", hint)
        self.workflow = workflow


class Unsupported(PreflightError):
    """A newer version of runwright recorded the workflow, in a form that this one does not read."""

    code = "unsupported"

    def __init__(self, workflow: str) -> None:
        super().__init__(f"Workflow {workflow} was recorded by a version of runwright that this one cannot follow.")
        self.workflow = workflow


class ActivationFailed(PreflightError):
    """The launch failed for a cause that has no name of its own."""

    code = "activation_failed"

    def __init__(self, check: str) -> None:
        super().__init__(
            f"The workflow could not be made ready: {check} failed.",
            "repeat the command; where it fails again, correct the cause in the workflow's own code",
        )
        self.check = check


class NameUnsaved(PreflightError):
    """A path cannot be saved, because its name is no text; ``what`` says which of them."""

    code = "activation_failed"

    def __init__(self, what: str, path: str) -> None:
        shown = os.fsencode(path).decode("utf-8", "backslashreplace")
        super().__init__(
            f"The {what} {shown} cannot be saved: its name is not UTF-8.",
            "rename it, or start the run from another folder",
        )
        self.what = what
        self.path = path
