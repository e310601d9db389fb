"""From what was typed behind ``run`` and ``start`` to a launch that was checked whole, and nothing written yet."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import rich_click as click
from attrs import frozen

from runwright.cli.agent_specs import agent_option, build_agents, collect_specs, named_agents
from runwright.cli.failures import Refused, sentence
from runwright.cli.inputs import read_base, read_fields
from runwright.cli.invocation import Invocation, user_folder
from runwright.cli.texts import FILE_NAME
from runwright.engine.near import near
from runwright.eventstore.values import Json

if TYPE_CHECKING:
    from runwright.engine.agents.agent import Agent
    from runwright.engine.embedded.catalog import Catalog, Driven
    from runwright.engine.embedded.code import Typed
    from runwright.engine.graph.definition import Definition

F = TypeVar("F", bound=Callable[..., Any])


@frozen(kw_only=True)
class Launch:
    """A workflow with its input and executors.

    Attributes:
        driven: The program.
        reference: How it is found again, relative to its project.
        project: Its project.
        value: The input, checked.
        agents: The executors by name.
    """

    driven: "Driven"
    reference: str
    project: Path
    value: Json
    agents: "Mapping[str, Agent]"


def launch_options(function: F) -> F:
    """Add what `run` and `start` share: the workflow, its input and its executors."""
    options = [
        click.argument("workflow"),
        click.argument("task", required=False),
        click.option(
            "-i",
            "--input",
            "base",
            type=FILE_NAME,
            metavar="JSON/@FILE/-",
            help="The input: JSON, a file, or stdin.",
        ),
        click.option("-s", "--set", "fields", multiple=True, metavar="K=V", help="One field: key=value, or key:=JSON."),
        agent_option("Who answers agent nodes: cmd:COMMAND, console, or the name of one in the settings."),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def needed_agents(definition: "Definition") -> set[str]:
    """The names of the executors that a workflow's nodes ask for."""
    from runwright.engine.embedded.code import executors_of

    return set(executors_of(definition).values())


@contextmanager
def naming(call: Invocation, workflow: str) -> Iterator[None]:
    """Find a workflow by what was typed; where there is none, say which was probably meant.

    Raises:
        Refused: There is no such workflow.
    """
    from runwright.engine.errors import WorkflowNotFound
    from runwright.engine.sources.locate import list_workflows

    call.flags.named["WORKFLOW"] = workflow
    try:
        yield
    except WorkflowNotFound as error:
        listed = [each.name for each in list_workflows(call.project, user_folder())]
        question = _near_file(workflow) or near(workflow, listed)
        message = _as_typed(error.message, error.reference, workflow)
        raise Refused.usage(message, f"{question} {sentence(error.hint)}".strip(), code=error.code) from None


def _as_typed(message: str, reference: str, typed: str) -> str:
    """Name a file as it was typed: its reference is relative to its project, which may be a folder below."""
    from runwright.engine.sources.locate import shown

    return message.replace(reference, shown(typed), 1) if typed.endswith(f"/{reference[1:-1]}") else message


def _near_file(typed: str) -> str:
    """The file that was probably meant."""
    path, colon, variable = typed.partition(":")
    folder = Path(path).parent
    # `os.path` calls a name that no file system takes absent; `Path` raises.
    if not path.endswith(".py") or "\0" in path or not os.path.isdir(folder) or os.path.exists(path):  # noqa: PTH110, PTH112
        return ""
    question = near(Path(path).name, (each.name for each in folder.glob("*.py")))
    name = question.removeprefix("Did you mean ").removesuffix("?")
    return f"Did you mean {(folder / name).as_posix()}{colon}{variable}?" if question else ""


def typed_of(fields: Sequence[str], task: str | None) -> "Typed":
    """What was typed beside the input, for whoever has the workflow's code.

    Raises:
        Refused: A field has no form that is known.
    """
    from runwright.engine.embedded.code import InputField, Typed

    read = read_fields(fields)
    return Typed(
        fields=tuple(InputField(key=key, text=text, is_json=is_json) for key, text, is_json in read), task=task
    )


def check_launch(
    call: Invocation,
    *,
    workflow: str,
    task: str | None,
    base: str | None,
    fields: Sequence[str],
    catalog: "Catalog | None" = None,
) -> Launch:
    """Load the workflow and check everything that a start checks.

    Raises:
        WorkflowNotFound: There is no such workflow; and its kin for everything else that is wrong.
    """
    from runwright.engine.embedded import preflight
    from runwright.engine.embedded.catalog import Catalog
    from runwright.engine.embedded.filling import check_asked, fill_input
    from runwright.engine.sources.locate import typed_reference

    given, typed = read_base(base), typed_of(fields, task)
    call.printed.settle()  # from here on user code is at work
    with naming(call, workflow):
        reference, project = typed_reference(workflow, Path.cwd(), call.named_project)
        driven = (catalog or Catalog(user=user_folder())).of_reference(reference, project)
    program = driven.program
    needed = needed_agents(program.definition)
    specs = collect_specs(call.flags.agents, call.settings, needed)
    check_asked(named_agents(call.flags.agents), needed)
    filled = fill_input(program.input, given, typed)
    executors = build_agents(specs, call.asking)
    value = preflight.check_input(program, filled, typed=False)
    driven.check_executors(executors)
    return Launch(
        driven=driven,
        reference=reference,
        project=project,
        value=value,
        agents=executors,
    )
