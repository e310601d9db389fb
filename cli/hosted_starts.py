"""From what was typed behind ``run`` and ``start`` to a run that the host has queued; no user code is loaded here."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from runwright.cli.agent_specs import check_spec, named_specs, settled_agents
from runwright.cli.failures import Refused
from runwright.cli.hosting import host_lives
from runwright.cli.inputs import Field, read_base, read_fields
from runwright.cli.invocation import Invocation, user_folder
from runwright.cli.launching import naming
from runwright.engine.texts import check_paths, text_problem
from runwright.eventstore.values import Json

if TYPE_CHECKING:
    from runwright.engine.client.client import Client


@frozen(kw_only=True)
class HostedStart:
    """A start as it goes to the host.

    Attributes:
        workflow: The workflow as it was typed.
        base: The input that the fields are put into.
        fields: The fields.
        task: The text for the field ``task``.
        project: The project, where it was named.
        interpreter: The Python that runs the workflow's code.
        agents: The executors that were named for this start.
        spare: Those of the settings, in case a node asks for them.
        pass_env: The variables that are handed on, with their values.
        session: The conversation that it is for.
    """

    workflow: str
    base: Json
    fields: tuple[Field, ...]
    task: str | None
    project: Path | None
    interpreter: str
    agents: Mapping[str, str]
    spare: Mapping[str, str]
    pass_env: Mapping[str, str]
    session: str | None

    @classmethod
    def of(
        cls,
        call: Invocation,
        *,
        workflow: str,
        task: str | None,
        base: str | None,
        fields: Sequence[str],
        session: str | None,
    ) -> "HostedStart":
        """Check what can be checked without the workflow's code, before any host is started for it.

        Raises:
            WorkflowNotFound: The workflow can have no such name; and `Refused` for everything else.
        """
        from runwright.engine.sources.locate import locate, typed_reference

        with naming(call, workflow):
            reference, project = typed_reference(workflow, Path.cwd(), call.named_project)
            if not host_lives(call):  # none is started for a mistyped name; one that lives knows repeated starts
                locate(reference, project, user_folder())
        interpreter = interpreter_of(call, project)
        check_paths(("project", str(project)), ("folder", str(Path.cwd())), ("interpreter", interpreter))
        return cls(
            workflow=workflow,
            base=read_base(base),
            fields=read_fields(fields),
            task=task,
            project=call.named_project,
            interpreter=interpreter,
            agents=hosted_agents(call),
            spare=settled_agents(call.settings),
            pass_env=passed_variables(call),
            session=session,
        )

    def queue(self, call: Invocation, client: "Client", *, key: str | None = None) -> str:
        """Have the host queue it; the run's ID, committed.

        Raises:
            PreflightError: It cannot be started; nothing was written.
        """
        with naming(call, self.workflow):
            return client.run_start(
                self.workflow,
                self.base,
                cwd=Path.cwd(),
                fields=self.fields,
                task=self.task,
                project=self.project,
                interpreter=self.interpreter,
                session=self.session,
                agents=self.agents,
                spare_agents=self.spare,
                pass_env=self.pass_env,
                key=key,
            ).value


def hosted_agents(call: Invocation) -> dict[str, str]:
    """The executors that were named for a run, with their specifications.

    Raises:
        Refused: One is of a kind that this version does not run.
    """
    specs = named_specs(call.flags.agents, call.settings)
    for name, spec in specs.items():
        check_spec(name, spec, call.settings.agents())
    return specs


def passed_variables(call: Invocation) -> dict[str, str]:
    """The variables that the settings hand on to runs, as far as they are set here.

    Raises:
        Refused: The value of one is no text.
    """
    found = {name: os.environ[name] for name in call.settings.names("pass_env") if name in os.environ}
    for name, value in found.items():
        if text_problem(value) is not None:
            raise Refused.usage(
                f"The variable {name}, which `pass_env` hands on, is not UTF-8.",
                "Set it anew, or take it out there.",
            )
    return found


def interpreter_of(call: Invocation, project: Path) -> str:
    """The Python that runs a project's workflows: the setting, else the project's own environment, else this one.

    Raises:
        InterpreterUnusable: The setting names nothing that can be run.
    """
    from runwright.engine.sources.interpreter import choose_interpreter

    setting, search = call.settings.text("python"), os.environ.get("PATH")
    return choose_interpreter(project, setting=setting, search=search, own=sys.executable)
