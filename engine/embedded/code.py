"""What an engine asks about a workflow's code, and what it is told: data in, data out, wherever the code is loaded."""

from collections.abc import Container, Mapping
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from attrs import fields, frozen

from runwright.engine.agents.agent import DEFAULT_AGENT
from runwright.engine.authoring.errors import DefinitionError
from runwright.engine.errors import AgentMissing, SessionMissing
from runwright.engine.execution.port import RunState
from runwright.engine.graph.definition import Definition
from runwright.engine.sources.identity import SourceSet
from runwright.eventstore.values import Json, JsonObject
from runwright.projections.control.runs import RunRow


@frozen(kw_only=True)
class Wanted:
    """A program, as a saved run names it or as somebody types it.

    Attributes:
        reference: How it is found.
        project: The project's folder.
        cwd: The folder that the run is started in.
        interpreter: The Python that loads it; ``None`` for the engine's own.
        pass_env: Names of variables that its code may see.
        run_id: The run, also one that is only being started; ``None`` where there is none.
        workflow: The workflow's name, where a run has saved it.
        definition: The digest of the definition that the run stands on.
        sources: The digest of the source set that it stands on; ``None`` also where nothing was loaded from a file.
    """

    reference: str
    project: Path
    cwd: Path
    interpreter: str | None = None
    pass_env: tuple[str, ...] = ()
    run_id: str | None = None
    workflow: str | None = None
    definition: str | None = None
    sources: str | None = None


@frozen(kw_only=True, eq=False)
class ProgramFacts:
    """Everything that is saved of a program, and that is judged without its code.

    Attributes:
        reference: How it is found again.
        project: The project's folder.
        workflow: The workflow's name.
        definition: The digest of the definition.
        snapshot: The definition as data.
        sources: The digest of the source set; ``None`` where nothing was loaded from a file.
        paths: The source set as data.
        executors: The executor that each node asks which needs one, by path.
        assistants: The nodes that only a session answers.
        max_steps: The last resort against loops.
    """

    reference: str
    project: Path
    workflow: str
    definition: str
    snapshot: JsonObject
    sources: str | None
    paths: JsonObject | None
    executors: Mapping[str, str]
    assistants: tuple[str, ...]
    max_steps: int

    @property
    def bare(self) -> "ProgramFacts":
        """The facts alone, without the code that a process may have beside them."""
        return ProgramFacts(**{each.name: getattr(self, each.name) for each in fields(ProgramFacts)})

    def carries(self, run: RunRow | Wanted) -> bool:
        """Whether a run stands on exactly this definition and these sources."""
        return (run.definition, run.sources) == (self.definition, self.sources)

    def named_by(self, run: RunRow | Wanted) -> bool:
        """Whether it is what a run's reference names; a file may be named with or without its variable."""
        if run.workflow != self.workflow:
            return False
        if self.reference == run.reference:
            return True
        file, _, _ = self.reference.rpartition(":")
        return file.endswith(".py") and file == run.reference

    def differs_from(self, saved: Mapping[str, str] | None) -> tuple[str, ...]:
        """The files in which it differs from a source set that was saved."""
        own = SourceSet({path: str(digest) for path, digest in (self.paths or {}).items()})
        return () if saved is None else SourceSet(saved).differs_from(own)

    def asked(self, session: str | None) -> dict[str, str]:
        """The executor that each node asks in a run, by path: a session answers the nodes that name none."""
        in_session = session is not None
        return {path: name for path, name in self.executors.items() if not (in_session and name == DEFAULT_AGENT)}

    def check_executors(self, agents: Container[str], session: str | None = None) -> None:
        """Refuse a workflow whose nodes ask executors that nobody handed in, or a session where there is none.

        Args:
            agents: The executors that there are, by name.
            session: The conversation that the run holds.

        Raises:
            AgentMissing: One does.
            SessionMissing: A node asks the run's session, and there is none.
        """
        for path, name in self.asked(session).items():
            if name not in agents:
                raise AgentMissing(path, name)
        if session is None and self.assistants:
            raise SessionMissing(self.assistants[0])


def executors_of(definition: Definition) -> dict[str, str]:
    """The executor that each node asks which needs one, by path."""
    asking = (node for node in definition.nodes.values() if node.kind in ("agent", "choose"))
    return {node.path: node.by or DEFAULT_AGENT for node in asking}


def assistants_of(definition: Definition) -> tuple[str, ...]:
    """The nodes that only a session answers, by path."""
    return tuple(node.path for node in definition.nodes.values() if node.kind == "assistant")


@frozen(kw_only=True)
class InputField:
    """One field of an input as somebody typed it: a text that takes the declared type, or JSON."""

    key: str
    text: str
    is_json: bool = False


@frozen(kw_only=True)
class Typed:
    """What somebody typed for a start, and only the workflow's code can judge.

    Attributes:
        fields: Fields of the input, in order.
        task: The text that fills the input's field ``task``.
        agents: Executors that were named for this very start: each has to be asked for by a node.
    """

    fields: tuple[InputField, ...] = ()
    task: str | None = None
    agents: tuple[str, ...] = ()


#: Nothing: the input is whole, and every executor is only there in case it is asked for.
UNTYPED: Final = Typed()


@frozen(kw_only=True)
class Starting:
    """A start that is to be checked.

    Attributes:
        wanted: The program.
        run_id: The new run's ID.
        agents: The kind of each executor that the run can have, by name.
        session: The conversation that starts it.
        typed: What was typed for it, beside the input.
    """

    wanted: Wanted
    run_id: str
    agents: Mapping[str, str]
    session: str | None = None
    typed: Typed = UNTYPED


@frozen(kw_only=True)
class Prepared:
    """A start that may be queued.

    Attributes:
        program: The program.
        input: The input as JSON, which fits the declared type.
        timeout: The run's own limit in microseconds; ``None`` for none.
    """

    program: ProgramFacts
    input: Json
    timeout: int | None


@frozen(kw_only=True)
class Checking:
    """A workflow whose faults are to be found.

    Attributes:
        wanted: The program.
        with_input: Whether the value that comes with the question is an input to be checked, too.
    """

    wanted: Wanted
    with_input: bool = False


@frozen(kw_only=True)
class Checked:
    """Everything that is wrong with a workflow.

    Attributes:
        workflow: Its name; ``None`` where it could not even be loaded.
        problems: Errors and warnings.
        program: The program, where there is no error.
    """

    workflow: str | None
    problems: tuple[DefinitionError, ...]
    program: ProgramFacts | None


@frozen(kw_only=True)
class AnswerGiven:
    """An answer to a request that is to be checked against the type of the node that asks.

    Attributes:
        wanted: The run's program.
        path: The node.
        kind: The request's kind; an agent node's own ``validate`` is asked, too.
        late: Whether nobody waits for it any more: it is only written as it would have been, to compare it.
        state: The run as it is saved, for ``validate``.
    """

    wanted: Wanted
    path: str
    kind: str
    late: bool = False
    state: RunState | None = None


@frozen(kw_only=True)
class AnswerFits:
    """The answer as it is stored."""

    program: ProgramFacts
    document: Json


@frozen(kw_only=True)
class ProgramDiffers:
    """The program is not the one that the run stands on, or has no such node."""

    program: ProgramFacts


@frozen(kw_only=True)
class ResultGiven:
    """The result of an ambiguous effect, as an operator says it.

    Attributes:
        wanted: The run's program.
        path: The node whose effect it is.
    """

    wanted: Wanted
    path: str


@frozen(kw_only=True)
class ResultFits:
    """The result as it is stored, and the node's output that follows from it."""

    stored: Json
    output: Json


@frozen(kw_only=True)
class Ended:
    """A completed run whose workflow has a presentation function.

    Attributes:
        wanted: The run's program.
        state: The run as it is saved.
        output: Its final output.
    """

    wanted: Wanted
    state: RunState
    output: Json


@frozen(kw_only=True)
class Instructions:
    """What the presentation function answered; ``None`` for nothing."""

    text: str | None


@frozen(kw_only=True)
class NotPrepared:
    """The instructions could not be worked out; it says so in words of ours."""

    code: str
    reason: str


Answer: TypeAlias = AnswerFits | ProgramDiffers
Presented: TypeAlias = Instructions | NotPrepared


class Code(Protocol):
    """Whoever is asked about a workflow's code: the engine's own process, or a child of the host.

    Questions and answers are data that a channel can carry. A ``value`` beside them is JSON; where the code is in
    this very process, it may be a value of the declared type as well. Whatever is refused is raised as the engine's
    own error, which `runwright.engine.protocol.failures` turns into data and back.
    """

    async def load(self, wanted: Wanted) -> ProgramFacts:
        """Have a program: handed in, started here, or loaded as its files stand now.

        Raises:
            Unloadable: It cannot be had.
        """
        ...

    async def prepare(self, starting: Starting, value: object) -> Prepared:
        """Check a start: the definition, the input, the executors, the names, and the run's own limit.

        Raises:
            PreflightError: What is wrong.
        """
        ...

    async def check(self, checking: Checking, value: object = None) -> Checked:
        """Find everything that is wrong with a workflow.

        Raises:
            WorkflowNotFound: There is none.
            InputInvalid: The workflow holds, and the input does not fit.
        """
        ...

    async def answer(self, given: AnswerGiven, value: object) -> Answer:
        """Check an answer against the node's type, and ask its own ``validate``.

        Raises:
            Unloadable: The program cannot be had.
            InputInvalid: The answer does not fit, or was refused.
            ActivationFailed: The node's own check failed itself.
        """
        ...

    async def result(self, given: ResultGiven, value: object) -> ResultFits:
        """Check an effect's result against the node's type, and ask a shell node's ``parse``.

        Raises:
            Unloadable: The program cannot be had.
            InputInvalid: The result does not fit.
            ActivationFailed: ``parse`` failed.
        """
        ...

    async def present(self, ended: Ended) -> Presented:
        """Ask the presentation function of a completed run, within its limit; its failure is an answer, too.

        Raises:
            Unloadable: The program cannot be had.
        """
        ...
