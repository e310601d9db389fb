"""Lines to type that have a run go on or begin afresh, with the executors that no store keeps."""

import re
import shlex
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

#: What `--agent` is given for executors, by their names; empty for one that need not be named.
Specs: TypeAlias = Mapping[str, str]
NO_SPECS: Final[Specs] = MappingProxyType({})

#: How the detail of a park for want of something names an executor; whoever writes one keeps to that.
_EXECUTOR: Final = re.compile(r"executor '([^']+)'")


def agent_line(command: str, run_id: str, *, accept_source: bool = False, agents: Iterable[str] = ()) -> str:
    """Write the line that has a run go on or begin afresh, with everything that is kept in memory only.

    Args:
        command: ``resume`` or ``restart``.
        run_id: The run.
        accept_source: Whether it is to take the files as they are now.
        agents: What `--agent` is given: ``NAME=SPEC``.
    """
    words = ["runwright", command, run_id, *(["--accept-source"] if accept_source else [])]
    return shlex.join([*words, *(word for each in agents for word in ("--agent", each))])


def spec_of(name: str) -> str:
    """What `--agent` is given where only the reader knows how an executor is started."""
    return f"{name}=SPEC"


def lacking_executors(detail: str) -> tuple[str, ...]:
    """The names of the executors that a park for want of something names, each once."""
    return tuple(dict.fromkeys(_EXECUTOR.findall(detail)))
