"""Settings: which source wins, what is refused, and what writing one changes."""

from pathlib import Path

import pytest

from runwright.cli.failures import Refused
from runwright.cli.setting_edit import write_setting
from runwright.cli.settings import KEYS, load_settings, read_toml, read_value, redact_after_of
from runwright.engine.host.settings import HostSettings
from support.command_line import CommandLine


def write(path: Path, text: str) -> Path:
    """Write a file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_the_nearer_source_wins(tmp_path: Path) -> None:
    """Environment over project file over pyproject over user file over default."""
    user = write(tmp_path / "user.toml", "capacity = 1\nidle_exit = '1h'\npython = 'p0'\nredact_after = 30\n")
    write(tmp_path / "pyproject.toml", "[tool.runwright]\ncapacity = 2\nidle_exit = '2h'\npython = 'p1'\n")
    write(tmp_path / ".runwright" / "config.toml", "capacity = 3\nidle_exit = '3h'\n")
    settings = load_settings(tmp_path, environment={"RUNWRIGHT_CAPACITY": "4"}, user=user)
    found = {key: (settings.get(key).value, settings.get(key).origin) for key in ("capacity", "idle_exit", "python")}
    assert found == {
        "capacity": (4, "RUNWRIGHT_CAPACITY"),
        "idle_exit": (10800.0, str(tmp_path / ".runwright" / "config.toml")),
        "python": ("p1", str(tmp_path / "pyproject.toml")),
    }
    assert settings.get("redact_after").value == 30.0
    assert settings.get("default_agent").origin == "default"


def test_what_holds_where_nobody_set_it(tmp_path: Path) -> None:
    """The defaults that a host really has, so that nobody has to look for them elsewhere."""
    settings = load_settings(tmp_path, environment={}, user=tmp_path / "none")
    host = HostSettings().in_background()
    assert settings.get("capacity").value == host.capacity >= 4
    assert settings.get("idle_exit").value == host.idle_exit
    assert settings.given("capacity") is settings.given("idle_exit") is None
    assert (
        load_settings(tmp_path, environment={"RUNWRIGHT_CAPACITY": "2"}, user=tmp_path / "none").given("capacity") == 2
    )


def test_every_setting_shows_what_holds(cli: CommandLine) -> None:
    """In words where no one value does; a duration as it is typed."""
    assert cli("config", "idle_exit").out == "10m\n"
    assert int(cli("config", "capacity").out) >= 4
    rows = {each["key"]: each for each in cli("config", "--json").document["items"]}
    assert rows["idle_exit"] == {"key": "idle_exit", "value": 600.0, "origin": "default"}
    said = cli("config").out
    for words in ("the project's .venv", "never", "10m"):
        assert words in said
    cli("config", "idle_exit", "90")
    assert cli("config", "idle_exit").out == "90s\n"


def test_the_age_of_a_run_is_its_own_projects(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its settings, else the user's; what cannot be read erases nothing; a host asks for each run's project."""
    write(tmp_path / "own" / ".runwright" / "config.toml", "redact_after = '30d'\n")
    write(tmp_path / "broken" / ".runwright" / "config.toml", "redact_after = [\n")
    projects = [*(tmp_path / each for each in ("own", "broken", "gone")), None]
    assert [redact_after_of(each) for each in projects] == [30 * 86_400.0, None, None, None]
    write(tmp_path / "config" / "runwright" / "config.toml", "redact_after = '1d'\n")
    assert [redact_after_of(each) for each in projects] == [30 * 86_400.0, None, 86_400.0, 86_400.0]
    run: list[HostSettings] = []
    monkeypatch.setattr("runwright.engine.host.host.run_host", lambda _home, settings, **_: run.append(settings))
    cli("host", "run")
    assert [each.redact_after for each in run] == [redact_after_of]


def test_the_home_variable_names_the_store(tmp_path: Path) -> None:
    """RUNWRIGHT_HOME is the state directory's own variable and wins over RUNWRIGHT_STORE."""
    settings = load_settings(
        tmp_path, environment={"RUNWRIGHT_STORE": "a", "RUNWRIGHT_HOME": "b"}, user=tmp_path / "none"
    )
    assert settings.get("store").value == "b"


@pytest.mark.parametrize(
    "text",
    [
        "capacty = 1", "capacity = 'many'", "capacity = true", "capacity = 0", "agents = 'x'", "[agents]\n'a/b' = 'x'",
        "pass_env = ['A=B']", "idle_exit = -1", "python = ''", "not toml", "[capacity]\nx = 1",
    ],
)  # fmt: skip
def test_refuses_unknown_keys_and_values_that_do_not_fit(tmp_path: Path, text: str) -> None:
    """A mistake in a file is an error that names the file."""
    path = write(tmp_path / ".runwright" / "config.toml", text)
    with pytest.raises(Refused) as caught:
        load_settings(tmp_path, environment={}, user=tmp_path / "none")
    assert str(path) in caught.value.failure.message
    assert caught.value.failure.exit_code == 2


def test_agents_have_names(tmp_path: Path) -> None:
    """`agents.NAME` is one key per name, in a table or in the environment."""
    write(tmp_path / ".runwright" / "config.toml", "[agents]\nclaude = 'cmd:claude -p'\n")
    settings = load_settings(tmp_path, environment={"RUNWRIGHT_AGENTS_ME": "console"}, user=tmp_path / "none")
    assert settings.agents() == {"claude": "cmd:claude -p", "me": "console"}


def test_writing_changes_one_line(tmp_path: Path) -> None:
    """Comments, order and other tables of a file stay as they are."""
    path = write(tmp_path / "config.toml", "# mine\ncapacity = 1  # few\n\n[agents]\n# a\nold = 'console'\n")
    write_setting(path, "capacity", "4")
    write_setting(path, "pass_env", "A, B")
    write_setting(path, "agents.new", 'cmd:x "y z"')
    assert path.read_text() == (
        '# mine\ncapacity = 4\npass_env = ["A", "B"]\n\n[agents]\n# a\nold = \'console\'\nnew = "cmd:x \\"y z\\""\n'
    )
    write_setting(path, "agents.old", None)
    write_setting(path, "capacity", None)
    assert read_toml(path) == {"pass_env": ["A", "B"], "agents": {"new": 'cmd:x "y z"'}}


def test_writing_leaves_a_link_one(tmp_path: Path) -> None:
    """Configuration that is kept elsewhere and linked to is changed there."""
    kept = write(tmp_path / "kept.toml", "capacity = 1\n")
    link = tmp_path / "config.toml"
    link.symlink_to(kept)
    write_setting(link, "capacity", "4")
    assert link.is_symlink()
    assert read_toml(kept) == {"capacity": 4}


def test_writing_refuses_what_one_line_cannot_change(tmp_path: Path) -> None:
    """A value over several lines is left for a person, and the file stays as it was."""
    text = "pass_env = [\n  'A',\n]\n"
    path = write(tmp_path / "config.toml", text)
    with pytest.raises(Refused):
        write_setting(path, "pass_env", "B")
    assert path.read_text() == text


def test_every_key_can_be_set_in_an_empty_file(tmp_path: Path) -> None:
    """A file comes to be with its folder, and reads back what was set."""
    values = {"capacity": "2", "pass_env": "A", "idle_exit": "10m", "redact_after": "30d"}
    for key in KEYS:
        name = key.name.replace("NAME", "me")
        path = tmp_path / name / "config.toml"
        write_setting(path, name, values.get(name, "console"))
        document = read_toml(path)
        written = document["agents"]["me"] if name == "agents.me" else document[name]  # type: ignore[index]  # parsed
        assert read_value(name, written) == read_value(name, values.get(name, "console"))
