"""One invocation of a command: where it runs, what its flags and settings say, and where its words go."""

import os
import shlex
from collections.abc import Mapping
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define, field

from runwright.cli.asking import Asking
from runwright.cli.failures import Refused
from runwright.cli.output import Output
from runwright.cli.settings import Settings, load_settings, user_file
from runwright.cli.warnings import show_warnings
from runwright.engine.texts import text_problem

if TYPE_CHECKING:
    from runwright.cli.diverting import Diversion


@define
class Flags:
    """What was given to flags that several commands take, before or behind their names."""

    as_json: bool = False
    as_lines: bool = False
    home: str | None = None
    project: str | None = None
    quiet: bool = False
    verbose: int = 0
    unsafe_filesystem: bool = False
    agents: tuple[str, ...] = ()
    #: What the command is about, as far as it is known: ``RUN``, ``EFFECT``, ``WORKFLOW``, for hints.
    named: dict[str, str] = field(factory=dict[str, str])

    @property
    def where(self) -> str:
        """Those of them that a line to type needs, too, to be about the same store and project."""
        given = (("--home", self.home), ("--project", self.project))
        return " ".join(f"{flag} {shlex.quote(value)}" for flag, value in given if value is not None)


class Invocation:
    """What a command knows about the world before it opens anything.

    Attributes:
        flags: The flags that every command takes.
        at_end: What the command gives back when it is over.
    """

    def __init__(self, flags: Flags) -> None:
        self.flags = flags
        self.at_end = ExitStack()

    @cached_property
    def printed(self) -> "Diversion":
        """What user code prints; asked for before any of it is loaded, it never comes to stdout."""
        from runwright.cli.diverting import diverted

        self.at_end.callback(self.show_warnings)  # once the streams stand where they stood
        diversion = self.at_end.enter_context(diverted(self.out))
        self.show_warnings()
        return diversion

    @cached_property
    def asking(self) -> Asking:
        """The terminal, where a run asks the person at it."""
        return Asking(self.out)

    def aside(self, text: str) -> None:
        """Say something that only who asked for more wants to hear."""
        if self.out.verbose:
            self.out.say(text)

    def show_warnings(self) -> None:
        """Send what Runwright logs to stderr."""
        show_warnings(self.out.stderr, verbose=self.out.verbose > 0)

    @cached_property
    def out(self) -> Output:
        """The streams."""
        flags = self.flags
        return Output(
            as_json=flags.as_json,
            as_lines=flags.as_lines,
            quiet=flags.quiet,
            verbose=flags.verbose,
            where=flags.where,
        )

    @cached_property
    def named_project(self) -> Path | None:
        """The project that somebody named: ``--project``, else ``RUNWRIGHT_PROJECT``."""
        given = self.flags.project or os.environ.get("RUNWRIGHT_PROJECT")
        if not given:
            return None
        folder = Path(given).absolute()
        if "\0" in given or not folder.is_dir():
            raise Refused.usage("The project folder does not exist.", "Name an existing folder with --project.")
        return folder

    @cached_property
    def project(self) -> Path:
        """The project: the named one, else the nearest folder upwards that is one, else the current folder."""
        here = Path.cwd()
        return self.named_project or find_project(here) or here

    @cached_property
    def settings(self) -> Settings:
        """The settings that hold here."""
        return load_settings(self.project)

    @cached_property
    def specs(self) -> Mapping[str, str]:
        """What ``--agent`` is given in lines to type, as `typed_specs`: for those at a terminal, or who type them."""
        from runwright.cli.agent_specs import typed_specs

        private = self.out.at_terminal and not self.out.for_machines
        return typed_specs(self.flags.agents, self.settings, private=private)

    @cached_property
    def home(self) -> Path:
        """The state directory: ``--home``, ``RUNWRIGHT_HOME``, the setting ``store``, else the user's state folder."""
        if self.flags.home is not None:
            return _folder(self.flags.home, Path.cwd())
        setting = self.settings.get("store")
        if isinstance(setting.value, str):
            base = Path.cwd() if setting.origin.startswith("RUNWRIGHT_") else Path(setting.origin).parent
            if base.name == ".runwright":
                base = base.parent
            return _folder(setting.value, base)
        import platformdirs

        return _folder(platformdirs.user_state_dir("runwright", appauthor=False), Path.cwd())


def find_project(start: Path) -> Path | None:
    """The nearest folder, from ``start`` upwards, that holds ``.runwright``; ``None`` where there is none."""
    return next((each for each in (start, *start.parents) if (each / ".runwright").is_dir()), None)


def user_folder() -> Path:
    """The user's own configuration folder, which may hold workflows, too."""
    return user_file().parent


def _folder(text: str, base: Path) -> Path:
    if not text or "\0" in text:
        raise Refused.usage("The state directory has no valid name.", "Name a folder with --home or RUNWRIGHT_HOME.")
    if "://" in text:
        raise Refused.usage(
            "This version keeps its store in a folder only.", "Name a folder with --home or RUNWRIGHT_HOME."
        )
    path = (base / Path(text).expanduser()).absolute()
    if text_problem(str(path)) is not None:
        raise Refused.usage(
            "The name of the state directory is not UTF-8.",
            "Name another folder with --home or RUNWRIGHT_HOME.",
            code="name_invalid",
        )
    return path
