"""Settings: flag, then ``RUNWRIGHT_*``, then project, then user configuration, then default (page 09)."""

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from attrs import field, frozen

from runwright.cli.durations import parse_duration
from runwright.cli.failures import Refused
from runwright.engine.texts import text_problem

Value = str | int | float | tuple[str, ...] | None

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _text(key: str, value: object) -> Value:
    if isinstance(value, str) and value.strip() and "\0" not in value and text_problem(value) is None:
        return value
    raise _wrong(key, "a text in UTF-8 that is not empty")


def _folder(key: str, value: object) -> Value:
    if isinstance(value, str) and value.strip() and "\0" not in value:
        return value
    raise _wrong(key, "the name of a folder")


def _count(key: str, value: object) -> Value:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 1024:
        return value
    raise _wrong(key, "a whole number from 1 to 1024")


def _duration(key: str, value: object) -> Value:
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        value = f"{value:f}"
    if not isinstance(value, str):
        raise _wrong(key, "a duration (90, 10m, 30d)")
    return parse_duration(value, f"the setting `{key}`")


def _names(key: str, value: object) -> Value:
    names = [each.strip() for each in value.split(",") if each.strip()] if isinstance(value, str) else value
    if isinstance(names, list | tuple) and all(isinstance(each, str) and _VARIABLE.fullmatch(each) for each in names):
        return tuple(str(each) for each in names)
    raise _wrong(key, "a list of names of environment variables")


def _places() -> Value:
    from runwright.engine.host.settings import default_capacity

    return default_capacity()


def _idle() -> Value:
    from runwright.engine.host.settings import IDLE_EXIT

    return IDLE_EXIT


def _nothing() -> Value:
    return None


@frozen(kw_only=True)
class Key:
    """One setting.

    Attributes:
        name: Its name.
        read: Reads its value.
        default: Answers what holds where nobody set it; ``None`` where that is no one value.
        meaning: What it is for.
        unset: What holds where nobody set it, in words.
    """

    name: str
    read: Callable[[str, object], Value]
    default: Callable[[], Value] = _nothing
    meaning: str
    unset: str = "none"


#: Every key there is; ``agents.NAME`` stands for one key per name.
KEYS: Final = (
    Key(name="agents.NAME", read=_text, meaning="the executor NAME: `cmd:COMMAND ARGUMENTS` or `console`"),
    Key(name="default_agent", read=_text, meaning="the executor for nodes that name none: a NAME or a spec"),
    Key(
        name="python",
        read=_text,
        meaning="the interpreter that loads workflows: a program, the folder of an environment, or a command",
        unset="the project's `.venv`, else the one that Runwright was started with",
    ),
    Key(name="pass_env", read=_names, default=tuple, meaning="names of environment variables handed on to runs"),
    Key(
        name="capacity",
        read=_count,
        default=_places,
        meaning="how many runs a host drives at the same time",
        unset="one for each processor, at least 4",
    ),
    Key(name="store", read=_folder, meaning="the state directory", unset="your user's state folder"),
    Key(
        name="idle_exit",
        read=_duration,
        default=_idle,
        meaning="how long a host without work stays",
        unset="`10m`; `host run` stays unless this is set",
    ),
    Key(
        name="redact_after",
        read=_duration,
        meaning="the age at which ended runs lose their private values",
        unset="never",
    ),
)
_BY_NAME: Final = {each.name: each for each in KEYS}


@frozen(kw_only=True)
class Setting:
    """One setting's value and where it comes from: ``flag``, ``RUNWRIGHT_…``, a file, or ``default``."""

    value: Value
    origin: str


@frozen(kw_only=True)
class Settings:
    """All settings as they hold for one command."""

    values: Mapping[str, Setting] = field(factory=dict)

    def get(self, key: str) -> Setting:
        """The setting of a key, its default where nobody set it."""
        found = self.values.get(key)
        return found if found is not None else Setting(value=find_key(key).default(), origin="default")

    def given(self, key: str) -> Value:
        """What somebody set a key to; ``None`` where nobody did."""
        found = self.values.get(key)
        return None if found is None else found.value

    def text(self, key: str) -> str | None:
        """The value of a key whose values are texts."""
        value = self.get(key).value
        return value if isinstance(value, str) else None

    def names(self, key: str) -> tuple[str, ...]:
        """The value of a key whose values are lists of names."""
        value = self.get(key).value
        return value if isinstance(value, tuple) else ()

    def agents(self) -> dict[str, str]:
        """The executors that settings name, by name."""
        return {
            key.removeprefix("agents."): str(setting.value)
            for key, setting in self.values.items()
            if key.startswith("agents.")
        }


def find_key(name: str) -> Key:
    """Find a key by name.

    Raises:
        Refused: There is no such key.
    """
    prefix, _, rest = name.partition(".")
    if prefix == "agents" and _NAME.fullmatch(rest):
        return _BY_NAME["agents.NAME"]
    if name in _BY_NAME and name != "agents.NAME":
        return _BY_NAME[name]
    raise Refused.usage(
        f"there is no setting {name[:80]!r}",
        f"The settings are: {', '.join(_BY_NAME)}.",
        code="setting_unknown",
    )


def read_value(name: str, value: object) -> Value:
    """Read one value by its key's rule.

    Raises:
        Refused: The value does not fit the key.
    """
    return find_key(name).read(name, value)


def user_file() -> Path:
    """The user's own configuration file."""
    import platformdirs

    return Path(platformdirs.user_config_dir("runwright")) / "config.toml"


def project_files(project: Path) -> tuple[tuple[Path, str], ...]:
    """The files that configure a project, the stronger first, each with the table to read (empty: the whole file)."""
    return ((project / ".runwright" / "config.toml", ""), (project / "pyproject.toml", "tool.runwright"))


def load_settings(project: Path, *, environment: Mapping[str, str] | None = None, user: Path | None = None) -> Settings:
    """Read every source of settings, the weakest first.

    Args:
        project: The project's folder.
        environment: The environment; the process's own by default.
        user: The user's configuration file; the usual place by default.

    Raises:
        Refused: A file cannot be read, names an unknown key or gives a value that does not fit.
    """
    values: dict[str, Setting] = {}
    values.update(read_file(user or user_file(), ""))
    for path, table in reversed(project_files(project)):
        values.update(read_file(path, table))
    values.update(_read_environment(os.environ if environment is None else environment))
    return Settings(values=values)


def redact_after_of(project: Path | None) -> float | None:
    """How many seconds after its end a run of a project loses its private values; ``None`` for never.

    Args:
        project: The project's folder: its own settings decide, else the user's.

    What cannot be read erases nothing.
    """
    try:
        age = load_settings(project or user_file().parent).get("redact_after").value
    except Refused:
        return None
    return age if isinstance(age, float) else None


def read_file(path: Path, table: str) -> dict[str, Setting]:
    """Read the settings in one file; none where it does not exist.

    Raises:
        Refused: It cannot be read, names an unknown key or gives a value that does not fit.
    """
    document = read_toml(path)
    for part in filter(None, table.split(".")):
        inner = document.get(part, {})
        document = inner if isinstance(inner, dict) else {}
    found: dict[str, Setting] = {}
    for key, value in document.items():
        if key == "agents" and isinstance(value, dict):
            pairs = [(f"agents.{name}", each) for name, each in value.items()]
        else:
            pairs = [(key, value)]
        for name, each in pairs:
            try:
                found[name] = Setting(value=read_value(name, each), origin=str(path))
            except Refused as error:
                failure = error.failure
                raise Refused.usage(f"{path}: {failure.message}", failure.hint, code=failure.code) from None
    return found


def read_toml(path: Path) -> dict[str, object]:
    """Read a TOML file; an empty document where it does not exist."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise Refused.usage(f"{path} is no valid TOML", "Mend or remove the file.", code="setting_invalid") from None
    except OSError as error:
        reason = error.strerror or "unknown reason"
        raise Refused.usage(
            f"{path} cannot be read: {reason}", "Mend or remove the file.", code="setting_invalid"
        ) from None


def _read_environment(environment: Mapping[str, str]) -> dict[str, Setting]:
    found: dict[str, Setting] = {}
    for name, value in environment.items():
        key = name.removeprefix("RUNWRIGHT_")
        if key == name or not value:
            continue
        key = key.lower()
        if key.startswith("agents_"):
            key = "agents." + key.removeprefix("agents_")
        if key in _BY_NAME or key.startswith("agents."):
            found[key] = Setting(value=read_value(key, value), origin=name)
    if home := environment.get("RUNWRIGHT_HOME"):
        found["store"] = Setting(value=home, origin="RUNWRIGHT_HOME")
    return found


def _wrong(key: str, wanted: str) -> Refused:
    return Refused.usage(
        f"the setting `{key}` takes {wanted}", f"See `runwright config {key}`.", code="setting_invalid"
    )
