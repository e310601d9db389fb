"""Executors as people name them."""

import pytest

from runwright.cli.agent_specs import collect_specs
from runwright.cli.failures import Refused
from runwright.cli.settings import Setting, Settings


def settings(**values: str) -> Settings:
    """Settings with these values, `agents_x` for `agents.x`."""
    named = {key.replace("agents_", "agents."): value for key, value in values.items()}
    return Settings(values={key: Setting(value=value, origin="test") for key, value in named.items()})


def test_flags_win_over_settings() -> None:
    """The flags' executors stand over those of the settings; a flag may name one of the settings."""
    known = settings(agents_me="console", agents_sh="cmd:sh -c 'cat x=y'", default_agent="me")
    assert collect_specs([], known, {"me", "default"}) == {"me": "console", "default": "console"}
    assert collect_specs(["sh", "review=console"], known)["default"] == "cmd:sh -c 'cat x=y'"
    assert collect_specs(["review=console"], settings())["review"] == "console"
    assert collect_specs(["cmd:sh -c A=b"], settings()) == {"default": "cmd:sh -c A=b"}


def test_settings_that_nobody_needs_are_not_judged() -> None:
    """An executor that is configured and not installed is in nobody's way."""
    known = settings(agents_gone="cmd:no-such-command-here", default_agent="gone")
    assert collect_specs([], known) == {}
    with pytest.raises(Refused):
        collect_specs([], known, {"default"})


@pytest.mark.parametrize(
    "flag", ["claude", "acp:x", "cmd:", "cmd:'", "cmd:no-such-command-here", "", "x=", "cmd:/etc/passwd", "1a=console"]
)
def test_refuses_what_it_does_not_run(flag: str) -> None:
    """Another kind, an unclosed quotation mark or a command that is not there: a sentence and exit 2."""
    with pytest.raises(Refused) as caught:
        collect_specs([flag], settings())
    assert caught.value.failure.code == "agent_missing"
    assert caught.value.failure.exit_code == 2
    assert caught.value.failure.hint
