"""The pages of the command line and of the settings, for `docs/generate.py`, from the commands themselves."""

from collections.abc import Iterator

import rich_click as click

from runwright.cli.catalogue import GROUPS, runwright
from runwright.cli.command import EVERYWHERE, IntentCommand
from runwright.cli.failures import CODES
from runwright.cli.settings import KEYS

_CLI_HEAD = """\
# Command line

`runwright COMMAND --help` shows what stands here. Data goes to stdout, everything else to stderr; nothing that a
workflow or an agent wrote can steer your terminal.

Every command takes these:

| option | meaning |
| --- | --- |
| `--json` | one JSON document on stdout and nothing else; lists are `{"items":[…],"position":n,"next":cursor\\|null}` |
| `--jsonl` | where something is listed or streamed: one JSON document a line |
| `--home DIR` | the state directory; else `RUNWRIGHT_HOME`, the setting `store`, or your user's state folder |
| `--project DIR` | the project; else `RUNWRIGHT_PROJECT`, the nearest folder up that holds `.runwright`, or this one |
| `-q`, `-v` | say less, say more |

`RUN` is a run's ID, its last four or more characters where no other run ends in them (lists print the last six), or
`@last`: the newest run of this project, or that was started in this folder. A file belongs to the project it lies in,
so `runwright run ../other/flow.py` starts a run of the other project; behind it `@last` names that run in both folders.
With `--project` (or `RUNWRIGHT_PROJECT`) it is the newest of that project alone. Effects are named the same way.

An error is one sentence and the next step on stderr. With `--json` it is
`{"error": {"code", "message", "hint"}}` on stdout; the codes are in [errors](errors.md).

| exit code | meaning |
| --- | --- |
| 0 | as asked; a command that reads exits 0 whatever it read |
| 1 | the run ended `failed`, `timed_out` or `cancelled` (`run`, `wait`, `watch`, `resume`), or a check found faults |
| 2 | usage, invalid input, an unknown or ambiguous name |
| 3 | a conflict, or a recovery step is needed first |
| 4 | the store or the host is unavailable |
| 5 | not finished: the run waits for somebody, is paused or parked, or `--timeout` passed |
| 130 | interrupted |

Durations are seconds, or a number with `s`, `m`, `h` or `d`. Times are RFC 3339 in UTC.
"""

_SETTINGS_HEAD = """\
# Settings

A setting is taken from a flag, else from the environment (`RUNWRIGHT_` and the key in capitals), else from the
project (`.runwright/config.toml`, else the table `[tool.runwright]` in `pyproject.toml`), else from your own
`config.toml` in your user's configuration folder, else it has its default. A key that is not in this list is an
error. `runwright config` shows every setting with where it comes from; `runwright config KEY VALUE` sets one.

| key | meaning | default |
| --- | --- | --- |
"""

_SETTINGS_TAIL = """
`agents.NAME` is a table in TOML:

```toml
default_agent = "claude"

[agents]
claude = "cmd:claude -p --output-format json"
```

`RUNWRIGHT_HOME` names the state directory and wins over `store`. `RUNWRIGHT_PROJECT` names the project folder.
`NO_COLOR` switches colours off. Where it is set, `capacity` also bounds what a command drives itself (`run --inline`,
or `resume` without a host); else that is up to 256 runs at once. An `idle_exit` of 0 is never.

`redact_after` is the age at which a host erases the private values of a run that has ended, with all its continuations
and restarts, as `runwright log redact` does. Each run goes by the settings of its own project, else by yours. A host
looks a minute after its start and then once an hour; `runwright log redact --dry-run` lists what is due.
"""


def cli_reference() -> str:
    """The text of ``docs/reference/cli.md``."""
    parts = [_CLI_HEAD]
    context = click.Context(runwright, info_name="runwright")
    for title, commands in GROUPS:
        parts.append(f"\n## {title}\n")
        for name, _ in commands:
            command = runwright.get_command(context, name)
            assert command is not None
            parts.extend(_describe(command, click.Context(command, info_name=name, parent=context)))
    return "".join(parts)


def settings_reference() -> str:
    """The text of ``docs/reference/settings.md``."""
    rows = [f"| `{key.name}` | {key.meaning} | {key.unset} |\n" for key in KEYS]
    return _SETTINGS_HEAD + "".join(rows) + _SETTINGS_TAIL


def codes_table() -> str:
    """The codes that only the command line itself has."""
    rows = [f"| `{code}` | {meaning} |\n" for code, meaning in sorted(CODES.items())]
    return "\n## The command line\n\n| code | when |\n| --- | --- |\n" + "".join(rows)


def _describe(command: click.Command, context: click.Context) -> Iterator[str]:
    if isinstance(command, click.Group):
        yield f"\n### {context.command_path}\n\n{_prose(command)}\n"
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _describe(inner, click.Context(inner, info_name=name, parent=context))
        return
    pieces = " ".join(command.collect_usage_pieces(context)).replace("[OPTIONS] ", "").replace("[OPTIONS]", "")
    yield f"\n### {context.command_path}\n\n```\n{context.command_path} {pieces}".rstrip() + "\n```\n\n"
    yield f"{_prose(command)}\n"
    options = [each for each in command.params if isinstance(each, click.Option)]
    own = [each for each in options if getattr(each, "panel", None) != EVERYWHERE and not each.hidden]
    if own:
        yield "\n| option | meaning |\n| --- | --- |\n"
    for option in own:
        names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
        metavar = "" if option.is_flag or option.count else f" `{option.make_metavar(context)}`"
        # A bar inside a cell would end it, in code too.
        needed = " Needed." if option.required else ""
        yield f"| {names}{metavar.replace('|', chr(92) + '|')} | {option.help or ''}{needed} |\n"
    if isinstance(command, IntentCommand):
        yield f"\n```console\n{_console(command.example)}\n```\n"


def _console(example: str) -> str:
    return "\n".join(f"$ {line}" for line in example.splitlines())


def _prose(command: click.Command) -> str:
    paragraphs = (command.help or "").split("\n\n")
    return "\n\n".join(" ".join(each.split()) for each in paragraphs)
